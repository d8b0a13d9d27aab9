// Compare: up to four choices side by side; boxes, marginals and microaggregation as long questions.

import { longQuestion, share, short } from "../charts.mjs";
import { fill, h } from "../dom.mjs";
import { listed } from "../known.mjs";
import { count, leftOut, numberOf, people, percent } from "../words.mjs";

let app, root, told;
let others = []; // what long questions found, for as long as the page is open

export async function show(into, given) {
  [app, root] = [given, into];
  await refresh();
}

// Pinned choices stand in the address as levels, one letter of the alphabet each: levels are no values of people.
const pinned = () => (app.parameters().pins ?? "").split("_").filter(Boolean).slice(0, 4)
  .map((one) => one.split(".").map(Number));

const asLevels = (places) => Object.fromEntries(app.summary.columns.map((column, place) => [column.name, places[place] ?? 0]));
const asPlaces = (levels) => app.summary.columns.map((column) => levels[column.name]);

const keep = (pins) => app.go("compare", pins.length ? { pins: pins.map((one) => one.join(".")).join("_") } : {});

export async function refresh() {
  try {
    told = await app.ask({ choices: pinned().map(asLevels) }, "compare");
  } catch (problem) {
    told = await app.ask({ choices: [] }, "compare");
    keep([]);
    app.failed(problem);
  }
  app.decided(told.summary);
  draw();
}

const letter = (place) => "ABCD"[place];

function draw() {
  const pins = pinned().slice(0, told.choices.length);
  const now = asPlaces(told.now);
  const there = pins.some((one) => one.join() === now.join());
  fill(root,
    h("h2", { id: "screen-title" }, "Compare"),
    h("p", {}, h("button", { type: "button", class: there || pins.length >= told.most ? "" : "first", "data-key": "pin", disabled: there || pins.length >= told.most,
      onclick: () => keep([...pins, now]) }, "Pin the choice of now"), " ",
    there ? "The choice of now is pinned." : pins.length >= told.most ? `${told.most} choices are pinned; take one away first.` : ""),
    told.choices.length ? drawTable(pins) : h("p", {}, "Nothing is pinned yet. Change something on the screen Decide, come back and pin again."),
    drawOthers());
}

function row(name, cells, more = {}) {
  return h("tr", more, h("th", { scope: "row" }, name), cells.map((cell) => (cell instanceof Node ? cell : h("td", { class: "n" }, cell))));
}

// What somebody finds who also knows the insensitive columns; nobody publishes the source table, so it is not asked.
function drawReader(known) {
  if (!known || (known.alone === undefined && !known.refusal)) return "not asked";
  const found = known.alone === undefined ? known.refusal.message
    : `${known.guess === null ? "" : `best guess ${percent(known.guess)}, `}${count(known.below)} in groups below ${known.k}`;
  return h("td", { class: known.refusal ? "n bad" : "n" }, `${known.refusal ? "✖ " : ""}${found}`);
}

const inNumbers = (value) => (value.exact === null && value.float === null ? "without bound" : short(value.float));

function drawTable(pins) {
  const choices = [...told.choices, told.source]; // beside each number what the source table itself has
  const requirements = Object.keys(choices[0].values);
  const utilities = choices[0].utilities.filter((one) => !one.why_not);
  return h("section", { class: "card wide", tabindex: "0", role: "region", "aria-label": "Pinned choices" }, h("table", { class: "compared" },
    h("thead", {}, h("tr", {}, h("td", {}), told.choices.map((choice, place) => h("th", { scope: "col", class: "n" }, letter(place),
      asPlaces(choice.levels).join() === asPlaces(told.now).join() ? " (now)" : "")), h("th", { scope: "col", class: "n source" }, "source table"))),
    h("tbody", {},
      row("verdict", choices.map((one) => h("td", { class: one.safe ? "n good" : "n bad" }, one.safe ? (one === told.source && told.summary.may_single_out ? "✔ keeps the requirements" : "✔ safe") : "✖ not safe"))),
      told.summary.insensitive.length ? row(`also knowing ${listed(told.summary.insensitive)}`, choices.map((one) => drawReader(one.known))) : null,
      requirements.map((name) => row(name, choices.map((one) => {
        const value = one.values[name];
        if (!value) return h("td", { class: "n bad" }, "✖ not decided");
        return h("td", { class: value.safe ? "n good" : "n bad" }, `${value.safe ? "✔" : "✖"} ${inNumbers(value)}`);
      }))),
      row("smallest group", choices.map((one) => people(one.baseline.smallest))),
      row("groups", choices.map((one) => count(one.baseline.groups))),
      row("left out", choices.map((one) => leftOut(one.suppressed, one.rows_suppressed))),
      row("best guess without facts", choices.map((one) => percent(share(one.baseline.worst_guess)))),
      choices[0].curve ? [1, 2, 3, 6].map((facts) => row(`best guess with ${facts} fact${facts > 1 ? "s" : ""}`, choices.map((one) => percent(share(one.curve[facts]))))) : [],
      choices.some((one) => one.breaks_at !== null) ? row("breaks at", choices.map((one) => (one.breaks_at === null ? "more than 12 facts" : `${one.breaks_at} facts`))) : [],
      row("detail kept, all columns", choices.map((one) => percent(one.detail))),
      app.summary.columns.map((column) => row(column.name, choices.map((one) => `${column.steps[one.levels[column.name]].words}: ${percent(column.steps[one.levels[column.name]].detail)}`))),
      utilities.map((utility, number) => row(utility.name.replaceAll("_", " "), choices.map((one) => {
        const found = one.utilities.filter((each) => !each.why_not)[number];
        return short(found.value);
      }))),
      row("what next", [...told.choices.map((one, place) => h("td", { class: "n" },
        h("button", { type: "button", "data-key": `use-${place}`, onclick: () => use(one) }, `Use ${letter(place)}`), " ",
        h("button", { type: "button", "data-key": `away-${place}`, onclick: () => keep(pins.filter((_, n) => n !== place)) }, `Take ${letter(place)} away`))), h("td", {})]))));
}

async function use(choice) {
  try {
    await app.change({ action: "take", levels: choice.levels }, "decide");
    app.say("The choice is taken.");
    await refresh();
  } catch (problem) {
    app.failed(problem);
  }
}

const NAMES = { multidimensional: "Boxes", microaggregate: "Microaggregation", marginals: "Marginals" };

// Every requirement of now, whichever way to publish it was judged for.
const judgedOf = () => [...new Set(others.flatMap((one) => [...one.verdicts.map((each) => each.about), ...one.not_here]))];

function drawOthers() {
  return h("section", { class: "card", "aria-labelledby": "others" },
    h("h3", { id: "others" }, "Other ways to publish the same table"),
    h("p", { class: "small" }, "Each is tried with the requirements of now, and nothing is written. Marginals are judged by k_link and "
      + "maxent_l_diversity where k_anonymity and l_diversity are required: on a plain table they are the same."),
    h("div", { class: "asks" }, told.others.map((method) =>
      longQuestion(app, `Try ${NAMES[method].toLowerCase()}`, { method }, (answer) => {
        others = [...others.filter((one) => one.method !== method), answer];
        queueMicrotask(draw);
        return null;
      }).box)),
    others.length ? h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Other ways to publish" }, h("table", {},
      h("thead", {}, h("tr", {}, h("td", {}), others.map((one) => h("th", { scope: "col", class: "n" }, NAMES[one.method])))),
      h("tbody", {},
        row("verdict", others.map((one) => h("td", { class: one.keeps && !one.not_here.length ? "n good" : one.keeps ? "n" : "n bad" },
          one.refusal ? `✖ not safe: ${one.refusal.message}` : one.safe ? "✔ safe" : one.keeps ? `✔ what applies holds; ${numberOf(one.not_here.length, "requirement")} not judged` : "✖ not safe"))),
        judgedOf().map((name) => row(name, others.map((one) => {
          const found = one.verdicts.find((each) => each.about === name);
          if (!found) return one.not_here.includes(name) ? "is about one table, and refuses several" : "not asked";
          return h("td", { class: found.safe ? "n good" : "n bad" }, `${found.safe ? "✔" : "✖"} ${found.value_float === null ? "without bound" : short(found.value_float)}`,
            found.requirement === name ? null : h("span", { class: "small" }, ` ${found.requirement}`));
        }))),
        row("smallest group", others.map((one) => (one.baseline ? people(one.baseline.smallest) : "not measured"))),
        row("groups", others.map((one) => (one.baseline ? count(one.baseline.groups) : "not measured"))),
        row("best guess without facts", others.map((one) => (one.baseline ? percent(share(one.baseline.worst_guess)) : "not measured")))))) : null);
}
