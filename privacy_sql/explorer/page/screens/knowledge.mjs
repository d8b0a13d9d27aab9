// Knowledge: what somebody reaches with more facts, fact by fact; who studied the data; who holds another release.

import { lines, longQuestion, share, short } from "../charts.mjs";
import { fill, h } from "../dom.mjs";
import { count, numberOf, people, percent } from "../words.mjs";

let app, root, told, facts, longs;

export async function show(into, given) {
  [app, root] = [given, into];
  await refresh();
}

export async function refresh() {
  told = await app.ask({}, "knowledge");
  app.decided(told.summary);
  const asked = app.parameters().facts;
  facts = /^\d+$/.test(asked ?? "") ? Math.min(told.facts, Number(asked)) : (told.required ?? 1);
  longs = null;
  draw();
}

// The slider moves: everything for 0 to 12 facts is here already, and nobody is asked.
function moved(to) {
  facts = to;
  app.go("knowledge", { facts }, { quietly: true });
  for (const [number, column] of told.columns.entries()) {
    if (column.why_not) continue;
    document.getElementById(`curve-${number}`).replaceChildren(drawCurve(column));
    document.getElementById(`story-${number}`).replaceChildren(...drawStory(column));
  }
  document.getElementById("facts-now").textContent = numberOf(facts, "fact");
  document.getElementById("facts").setAttribute("aria-valuetext", numberOf(facts, "fact"));
}

function draw() {
  const curves = told.columns.some((column) => !column.why_not);
  fill(root,
    h("h2", { id: "screen-title" }, "Knowledge"),
    curves ? h("p", { class: "slider" }, h("label", { for: "facts" }, "Somebody who knows who is in which group also knows "),
      h("output", { id: "facts-now", for: "facts" }, numberOf(facts, "fact")),
      h("input", { id: "facts", "data-key": "facts", type: "range", min: 0, max: told.facts, step: 1, value: facts,
        "aria-valuetext": numberOf(facts, "fact"), oninput: (event) => moved(Number(event.target.value)) })) : null,
    told.columns.map((column, number) => h("section", { class: "card", "aria-label": `Facts about ${column.sensitive ?? "people"}` },
      h("h3", {}, `What facts reach${told.columns.length > 1 ? `: ${column.sensitive}` : ""}`),
      column.why_not ? h("p", {}, column.why_not) : h("div", { class: "pair" },
        h("div", { id: `curve-${number}` }, drawCurve(column)),
        h("div", { id: `story-${number}` }, drawStory(column))))),
    drawLong());
}

const shares = (curve) => curve.map(share);

function drawCurve(column) {
  return lines({
    series: [
      { name: "this choice, with the most useful facts", values: shares(column.curve.implications) },
      { name: "the source table", values: shares(column.source.implications), dashed: true },
    ],
    limit: share(told.limit), at: facts, across: "facts somebody knows", up: "Best guess is right",
  });
}

function drawStory(column) {
  const story = column.stories[Math.min(facts, column.stories.length - 1)];
  const limit = share(told.limit);
  const sure = share(story.value);
  const over = limit !== null && facts === told.required && sure >= limit;
  return [
    h("p", { class: over ? "bad" : "" },
      `${over ? "✖ " : ""}With ${numberOf(facts, "fact")}, somebody can guess one of ${people(story.size)} (group ${count(story.group)} of ${count(story.groups)}) right `
      + `${percent(sure)} of the time.`),
    facts > story.facts ? h("p", { class: "small" }, `${numberOf(story.facts, "fact")} ${story.facts === 1 ? "is" : "are"} enough for that; more do not help.`) : null,
    story.knows.length ? h("ol", { class: "story" },
      story.knows.map((fact, place) => h("li", {}, fact, " ", h("b", {}, percent(share(story.certainty[place + 1]))))))
      : h("p", {}, `${people(story.holders)} of the group share the value that is guessed.`),
    h("p", { class: "small" }, `In this group, before any fact, the guess is right ${percent(share(story.certainty[0]))} of the time. `
      + `In the source table ${numberOf(facts, "fact")} ${facts === 1 ? "reaches" : "reach"} ${percent(share(column.source.implications[facts]))}.`),
  ].filter(Boolean);
}

// -- long questions -------------------------------------------------------------------------------------------

function drawLong() {
  longs ??= {
    skyline: longQuestion(app, "Work out the skylines", { about: "skyline" }, drawSkylines).box,
    studied: longQuestion(app, "Ask about somebody who studied the data",
      () => ({ about: "studied", bandwidth: document.getElementById("bandwidth").value.trim(), t: document.getElementById("t").value.trim() }), drawVerdicts).box,
    held: longQuestion(app, "Ask about the registered releases",
      () => ({ about: "held", at: document.getElementById("at").value.trim() }), drawVerdicts).box,
  };
  return h("div", { class: "pair" },
    h("section", { class: "card", "aria-labelledby": "skyline-title" },
      h("h3", { id: "skyline-title" }, "A family, others and the target"),
      h("p", {}, "Facts of three kinds: values ruled out for the target, values of other people, and members of the target's family with the value."),
      longs.skyline),
    h("section", { class: "card", "aria-labelledby": "studied-title" },
      h("h3", { id: "studied-title" }, "Who studied such data before"),
      h("p", {}, "They know how the columns go with the sensitive value, from data like this, and learn something if their belief about a person moves."),
      h("p", { class: "asked-for" }, h("label", { for: "bandwidth" }, "How much they know, as a bandwidth from 0 to 1 (smaller: more) "), h("input", { id: "bandwidth", type: "text", size: 6, value: "0.3" }),
        h("label", { for: "t" }, "A belief may move by at most (0 to 1) "), h("input", { id: "t", type: "text", size: 6, value: "0.2" })),
      longs.studied),
    h("section", { class: "card", "aria-labelledby": "held-title" },
      h("h3", { id: "held-title" }, "Who holds another release"),
      told.registered.length
        ? [h("p", {}, `Registered: ${told.registered.join(", ")}.`),
          h("p", {}, h("label", { for: "at" }, "A person is exposed when somebody is as sure as "), h("input", { id: "at", type: "text", size: 6, value: "1" })),
          longs.held]
        : h("p", {}, "No release is registered in this project, so there is nothing to combine this one with.")));
}

function drawVerdicts(answer) {
  return h("div", {}, answer.verdicts.map((one) => h("div", { class: one.safe ? "verdict" : "verdict fails" },
    h("h4", {}, `${one.safe ? "✔ holds" : "✖ fails"}: ${one.requirement}`),
    h("p", {}, one.value_float === null ? "Not decided." : `Value ${short(one.value_float)}, limit ${one.limit ?? "none"}.`),
    h("p", {}, one.story), one.notes.map((note) => h("p", { class: "small" }, note)))));
}

function drawSkylines(answer) {
  const limit = share(told.breach);
  return h("div", {}, answer.panels.map((panel) => {
    const place = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Skyline of ${panel.sensitive}` });
    const value = h("select", {}, panel.values.map((one, number) =>
      h("option", { value: String(number) }, `${one.label}: ${people(one.people)}`)));
    const ruled = h("select", {}, Array.from({ length: answer.most[0] + 1 }, (_, n) => h("option", { value: String(n) }, String(n))));
    const grid = () => place.replaceChildren(drawGrid(panel.values[Number(value.value)].breach[Number(ruled.value)], limit));
    value.addEventListener("change", grid);
    ruled.addEventListener("change", grid);
    grid();
    return h("div", {},
      h("p", {}, h("label", {}, `${panel.sensitive}, values by frequency `, value)),
      h("p", {}, h("label", {}, "Values ruled out for the target ", ruled)), place,
      panel.n_values > panel.values.length ? h("p", { class: "small" }, `The ${panel.values.length} values that are easiest to guess, of ${panel.n_values}.`) : null);
  }));
}

function drawGrid(breach, limit) {
  return h("table", { class: "grid" },
    h("caption", {}, `How sure somebody becomes, in percent; ✖ is ${percent(limit)} or more`),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "others known ↓ family →"), breach[0].map((_, family) => h("th", { scope: "col", class: "n" }, String(family))))),
    h("tbody", {}, breach.map((row, known) => h("tr", {}, h("th", { scope: "row" }, String(known)),
      row.map((part) => h("td", { class: part / 10000 >= limit ? "n bad" : "n" }, `${part / 10000 >= limit ? "✖ " : ""}${(part / 100).toFixed(0)}`))))));
}
