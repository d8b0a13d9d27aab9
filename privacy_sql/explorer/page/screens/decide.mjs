// Decide: limits, steps tagged before they are taken, the verdict in one sentence, and all choices.

import { fill, h } from "../dom.mjs";
import { RELATIONS, fraction, holds, measured, people, percent } from "../words.mjs";

let app, root, told, story, limits;

export async function show(into, given) {
  [app, root] = [given, into];
  await refresh();
}

export async function refresh() {
  take(await app.ask());
}

function take(answer) {
  told = answer;
  story = null;
  limits = {}; // limits that are being dragged, by requirement
  app.decided(told.summary);
  draw();
  tell();
}

async function change(question) {
  try {
    take(await app.ask({ ...question, version: app.summary.version }));
    app.say(sentence());
  } catch (problem) {
    app.failed(problem);
    if (problem.code === "changed_meanwhile") await refresh();
  }
}

async function tell() {
  const asked = told;
  try {
    const found = await app.ask({ action: "story" });
    if (asked !== told) return;
    story = found;
    draw();
  } catch (problem) {
    app.failed(problem);
  }
}

// -- thresholds: values are compared with the limits of the moment here, and nobody is asked ------------------

const required = () => told.summary.requirements;
const limitOf = (asked) => limits[asked.requirement] ?? asked.slider.limit;

function keeps(asked, value) {
  if (!value) return false;
  return asked.slider && told.summary.allowed === "0" ? holds(value, value.relation, limitOf(asked)) : value.safe;
}

// The values of one requirement: one for each sensitive column.
const valuesOf = (asked, choice) =>
  Object.entries(choice.values).filter(([name]) => name === asked.requirement || name.startsWith(`${asked.requirement} for `))
    .map(([, value]) => value);

const undecided = (asked, choice) =>
  choice.undecided.some((name) => name === asked.requirement || name.startsWith(`${asked.requirement} for `));

const holdsAt = (asked, choice) => !undecided(asked, choice) && valuesOf(asked, choice).every((value) => keeps(asked, value));

const safe = (choice) => required().every((asked) => holdsAt(asked, choice));

// -- what is drawn ---------------------------------------------------------------------------------------------

function sentence() {
  const fails = required().filter((asked) => !holdsAt(asked, told.now));
  return fails.length
    ? `Not safe: ${fails.length} of ${required().length} requirements fail.`
    : `Safe: all ${required().length} requirements hold.`;
}

function draw() {
  fill(root,
    h("h2", { id: "screen-title", class: "vh" }, "Decide"),
    h("div", { class: "deciding" },
      h("div", { class: "left" }, drawLimits()),
      h("div", { class: "middle" }, drawVerdict(), drawColumns()),
      h("div", { class: "right" })));
}

function drawVerdict() {
  const good = safe(told.now);
  const lines = (story?.verdicts ?? []).filter((one) => good || !one.safe).map((one) => h("p", {}, one.story || one.requirement));
  return h("div", { class: `verdict ${good ? "" : "fails"}` },
    h("h3", {}, `${good ? "✔" : "✖"} ${sentence()}`), lines);
}

function drawLimits() {
  return h("section", { class: "card", "aria-labelledby": "limits" },
    h("h3", { id: "limits" }, "What must hold"),
    required().map((asked) => {
      const worst = valuesOf(asked, told.now)[0];
      const good = holdsAt(asked, told.now);
      return h("div", { class: "limit" },
        h("div", { class: "line" },
          h("label", { for: `limit-${asked.requirement}` }, asked.question),
          h("span", { class: good ? "good" : "bad" }, `${good ? "✔" : "✖"} ${measured(worst?.float, asked.unit)}`)),
        asked.slider
          ? h("div", { class: "line" }, h("span", { class: "small" }, RELATIONS[asked.slider.relation]),
            h("input", { type: "text", id: `limit-${asked.requirement}`, "data-key": `limit-${asked.criterion}`,
              value: limitOf(asked), onchange: (event) => moved(asked, event.target.value) }))
          : null,
        h("p", { class: "small" }, asked.requirement));
    }));
}

function moved(asked, limit) {
  if (fraction(limit) !== null) change({ action: "limit", requirement: asked.requirement, limit });
}

function drawColumns() {
  return h("section", { class: "card", "aria-labelledby": "columns" },
    h("h3", { id: "columns" }, "How each column is published"),
    told.summary.columns.map((column) =>
      h("div", { class: "column" },
        h("h4", {}, column.name),
        h("div", { class: "steps", role: "group", "aria-label": column.name },
          told.steps[column.name].map((choice, level) => {
            const good = safe(choice);
            const step = column.steps[level];
            return h("button", {
              type: "button", class: `step ${good ? "safe" : "fails"}`, disabled: !step.allowed,
              "data-key": `step-${column.name}-${level}`,
              "aria-pressed": String(told.summary.levels[column.name] === level),
              onclick: () => change({ action: "take", levels: { [column.name]: level } }),
            }, step.words, h("span", { class: "tag" }, `${good ? "✔" : "✖"} ${percent(choice.guess)}`));
          })))));
}
