// People: how well each can be guessed, how many stand together, and what could be done for those of one bar.

import { histogram, share } from "../charts.mjs";
import { fill, h } from "../dom.mjs";
import { leftOut, count, numberOf, people, percent } from "../words.mjs";

let app, root, told, chosen;

export async function show(into, given) {
  [app, root] = [given, into];
  await refresh();
}

export async function refresh() {
  const { facts } = app.parameters();
  try {
    told = await app.ask(/^\d+$/.test(facts ?? "") ? { facts: Number(facts) } : {}, "people");
  } catch (problem) {
    app.failed(problem);
    told = await app.ask({}, "people");
  }
  app.decided(told.summary);
  await choose();
}

// The bar that the address names, asked about anew.
async function choose() {
  const { by, low, column } = app.parameters();
  chosen = null;
  draw();
  if (!["guess", "size"].includes(by) || !/^\d+$/.test(low ?? "")) return;
  try {
    chosen = await app.ask({ action: "groups", by, low: Number(low), column: Number(column ?? 0), facts: told.facts }, "people");
    chosen.column = Number(column ?? 0);
  } catch (problem) {
    app.failed(problem);
  }
  draw();
}

const go = (more) => app.go("people", { facts: told.facts, ...more });

const inWords = (bar) => (bar.low === 1 ? "certain: 100 %" : `${percent(bar.low)} to ${percent(bar.high)}`);
const sizes = (bar) => (bar.low === bar.high ? people(bar.low) : `${count(bar.low)} to ${count(bar.high)} people`);

// Bars from the first to the last that holds anybody.
function between(bars) {
  const held = bars.map((bar) => bar.people + bar.source > 0);
  const first = held.indexOf(true);
  return first < 0 ? [] : bars.map((bar, place) => ({ ...bar, place })).slice(first, held.lastIndexOf(true) + 1);
}

function rows(bars, by, number) {
  const limit = share(told.limit);
  return between(bars).map((bar) => {
    const low = by === "guess" ? bar.place : bar.low;
    const over = by === "guess"
      ? limit !== null && bar.low >= limit && "at or over the limit"
      : told.k !== null && bar.high < told.k && "fewer than required";
    return {
      ...bar, over, label: by === "guess" ? inWords(bar) : sizes(bar), key: `${by}-${number}-${low}`,
      chosen: chosen && chosen.by === by && chosen.low === low && chosen.column === number,
      onclick: () => go({ by, low, column: number }),
    };
  });
}

function draw() {
  fill(root,
    h("h2", { id: "screen-title" }, "People"),
    h("p", {}, `${people(told.columns[0].people)} are published`,
      told.left_out ? `; ${leftOut(told.left_out, told.rows_left_out)} are left out` : "",
      ". A bar grows by the same step for every ten times as many people. The thin bar below and the number on the right are the source table itself."),
    told.columns.map((column, number) => drawColumn(column, number)),
    chosen ? drawChosen() : null);
}

function drawColumn(column, number) {
  const named = column.sensitive ?? "no sensitive column";
  return h("section", { class: "card", "aria-label": named },
    told.columns.length > 1 ? h("h3", {}, named) : null,
    h("div", { class: "pair" },
      column.guesses ? h("div", {},
        h("h3", {}, "By how well they can be guessed"),
        told.most_facts ? drawFacts(number) : null,
        told.limit === null ? null : h("p", { class: "small" }, `The limit is ${percent(share(told.limit))}. It holds for facts about anybody; `
          + "the bars count facts about the person's own group."),
        histogram(`People by how well their ${named} can be guessed`, rows(column.guesses, "guess", number))) : null,
      h("div", {},
        h("h3", {}, "By the size of their group"),
        told.k === null ? null : h("p", { class: "small" }, `At least ${people(told.k)} are required.`),
        histogram("People by the size of their group", rows(column.sizes, "size", number)))),
    h("p", { class: "small" }, "Select a bar to see its groups."));
}

function drawFacts(number) {
  return h("p", {}, h("label", { for: `facts-${number}` }, "Facts somebody knows about people of the group: "),
    h("select", { id: `facts-${number}`, "data-key": `facts-${number}`, onchange: (event) => app.go("people", { facts: event.target.value }) },
      Array.from({ length: told.most_facts + 1 }, (_, facts) =>
        h("option", { value: String(facts), selected: facts === told.facts }, String(facts)))));
}

function drawChosen() {
  const named = chosen.by === "guess"
    ? `People who can be guessed with ${inWords({ low: chosen.ends[0], high: chosen.ends[1] })}`
    : "People by the size of their group";
  return h("section", { class: "card", id: "chosen", "aria-labelledby": "chosen-title" },
    h("h3", { id: "chosen-title" }, `${named}: ${people(chosen.people)} in ${numberOf(chosen.groups, "group")}`),
    h("div", { class: "pair listed" }, drawGroups(), h("div", {}, drawLeave(), drawCoarser())));
}

function drawGroups() {
  const columns = [...new Set(chosen.listed.flatMap((group) => Object.keys(group.labels)))];
  if (!chosen.listed.length) return h("p", {}, "No group is in this bar.");
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Groups of this bar" },
    h("table", {},
      h("thead", {}, h("tr", {},
        h("th", { scope: "col", class: "n" }, "people"), h("th", { scope: "col", class: "n" }, "best guess"),
        columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, chosen.listed.map((group) => h("tr", {},
        h("td", { class: "n" }, count(group.people)), h("td", { class: "n" }, percent(share(group.sure))),
        columns.map((name) => h("td", { class: "label" }, group.labels[name] ?? "missing")))))),
    chosen.groups > chosen.listed.length
      ? h("p", { class: "small" }, `The ${chosen.listed.length} smallest are listed.`) : null,
    app.values ? null : h("p", { class: "small" }, "Columns that stand as they are show values of people, so they are not listed. The switch above shows them."));
}

function drawLeave() {
  const leave = chosen.leave;
  return h("div", {}, h("h4", {}, "Leave them out"), h("p", {}, leave.why),
    leave.possible ? h("button", { type: "button", "data-key": "leave", onclick: leaveOut }, `Leave out ${people(leave.people)}`) : null);
}

async function leaveOut() {
  try {
    told = await app.change({ action: "leave", facts: told.facts, max_suppressed: chosen.leave.max_suppressed });
    app.decided(told.summary);
    app.say(`${leftOut(told.left_out, told.rows_left_out)} are left out.`);
    await choose();
  } catch (problem) {
    app.failed(problem);
  }
}

function drawCoarser() {
  if (!chosen.coarser.length) return h("p", {}, "No column can be made coarser.");
  return h("div", {}, h("h4", {}, "Make one column coarser"),
    h("p", { class: "small" }, "A level holds for everybody, so all people are counted."),
    h("div", { class: "wide" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "column"), h("th", { scope: "col" }, "becomes"),
        h("th", { scope: "col", class: "n" }, "still here or worse"), h("th", { scope: "col" }, "verdict"), h("td", {}))),
      h("tbody", {}, chosen.coarser.map((step) => h("tr", {},
        h("th", { scope: "row" }, step.column),
        h("td", {}, app.summary.columns.find((one) => one.name === step.column).steps[step.level].words),
        h("td", { class: "n" }, people(step.left)),
        h("td", { class: step.safe ? "good" : "bad" }, !step.safe ? "✖ not safe" : app.summary.may_single_out ? "✔ keeps the requirements" : "✔ safe"),
        h("td", {}, h("button", { type: "button", "data-key": `coarser-${step.column}`,
          onclick: () => coarser(step) }, "Take it", h("span", { class: "vh" }, `: ${step.column}`)))))))));
}

async function coarser(step) {
  try {
    await app.change({ action: "take", levels: { [step.column]: step.level } }, "decide");
    app.say(`${step.column} is coarser now.`);
    await refresh();
  } catch (problem) {
    app.failed(problem);
  }
}
