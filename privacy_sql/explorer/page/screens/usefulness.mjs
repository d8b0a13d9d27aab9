// Usefulness: every column before and after, counting queries with true and published answers, every measure.

import { short, strip } from "../charts.mjs";
import { fill, h } from "../dom.mjs";
import { count, numberOf, people, percent } from "../words.mjs";

let app, root, told, answered;
let conditions = {}; // what was asked last; values that somebody typed, so never in the address

export async function show(into, given) {
  [app, root] = [given, into];
  answered = null;
  await refresh();
}

export async function refresh() {
  told = await app.ask({}, "usefulness");
  app.decided(told.summary);
  if (answered) await ask();
  draw();
}

function draw() {
  fill(root,
    h("h2", { id: "screen-title" }, "Usefulness"),
    h("p", {}, `${count(told.people - told.left_out)} of ${people(told.people)} are published.`),
    h("section", { class: "card", "aria-labelledby": "distributions" },
      h("h3", { id: "distributions" }, "Each column, before and after"),
      h("p", { class: "small" }, "A bar is as wide as the number of values it stands for, and as high as the people per value."),
      told.columns.map(drawColumn)),
    h("div", { class: "pair" }, drawQuery(), drawMeasures()));
}

function drawColumn(column) {
  const step = app.summary.columns.find((one) => one.name === column.column).steps[column.level];
  const most = Math.max(...[...column.before, ...(column.after ?? [])].map((part) => part.people / part.values), 1e-9);
  return h("div", { class: "distribution" },
    h("h4", {}, column.column),
    h("p", { class: "small" }, `${numberOf(column.values, "value")} → ${column.left_out ? "not published" : numberOf(column.labels, "label")}${step.words === numberOf(column.labels, "label") ? "" : ` (${step.words})`}`),
    h("div", { class: "strips" }, strip(column.before, "was", most), h("span", { "aria-hidden": "true" }, "→"),
      column.left_out ? h("p", { class: "out" }, "not published") : strip(column.after ?? column.before, "now", most)),
    h("details", {}, h("summary", {}, `${column.column} as a table`),
      h("div", { class: "wide" }, h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "published as"), h("th", { scope: "col", class: "n" }, "values"), h("th", { scope: "col", class: "n" }, "people"))),
        h("tbody", {}, (column.after ?? []).map((part, place) => h("tr", {},
          h("th", { scope: "row" }, part.label ?? (column.left_out ? "not published" : `value ${place + 1}`)),
          h("td", { class: "n" }, count(part.values)), h("td", { class: "n" }, count(part.people)))))))));
}

function drawQuery() {
  const names = [...told.columns.map((column) => column.column), ...told.summary.sensitive.slice(0, 1)];
  return h("section", { class: "card", "aria-labelledby": "query" },
    h("h3", { id: "query" }, "A question of your own"),
    told.summary.sensitive.length ? h("form", { onsubmit: (event) => { event.preventDefault(); submit(event.target); } },
      h("p", {}, "How many people have …? Write values or labels with commas between, or 30-39. Leave a column empty if any value will do."),
      names.map((name, number) => h("p", { class: "field" }, h("label", { for: `query-${number}` }, name),
        h("input", { id: `query-${number}`, name: String(number), type: "text", autocomplete: "off", "data-key": `query-${number}`, value: conditions[name] ?? "" }))),
      h("button", { type: "submit", "data-key": "count" }, "Count")) : h("p", {}, "Questions are answered for tables with a sensitive column."),
    answered ? h("div", { id: "answered", role: "status" },
      h("p", {}, h("b", {}, people(answered.true)), " in the source table; a reader of the release would say ", h("b", {}, `about ${count(Math.round(10 * answered.published) / 10)}`), "."),
      h("p", { class: "small" }, answered.error === null ? "Nobody fits, so there is no relative error." : `The answer is wrong by ${percent(answered.error)}.`)) : null);

  async function submit(form) {
    conditions = Object.fromEntries(names.map((name, number) => [name, form.elements[String(number)].value]));
    await ask();
    draw();
  }
}

async function ask() {
  try {
    answered = await app.ask({ action: "query", conditions }, "usefulness");
    app.say(`${people(answered.true)} in the source table, about ${Math.round(answered.published)} in the release.`);
  } catch (problem) {
    answered = null;
    app.failed(problem);
  }
}

function drawMeasures() {
  return h("section", { class: "card", "aria-labelledby": "measures" },
    h("h3", { id: "measures" }, "Every measure"),
    h("p", { class: "small" }, "Less is better, except for precision and accuracy."),
    h("div", { class: "wide" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "measure"), h("th", { scope: "col", class: "n" }, "this choice"), h("th", { scope: "col", class: "n" }, "source table"))),
      h("tbody", {}, told.utilities.map((one) => h("tr", {}, h("th", { scope: "row" }, one.name.replaceAll("_", " "), h("p", { class: "small" }, one.about)),
        one.why_not ? h("td", { colspan: 2, class: "small" }, one.why_not)
          : [h("td", { class: "n" }, short(one.value)), h("td", { class: "n" }, short(one.source))]))))));
}
