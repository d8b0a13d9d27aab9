// Decide: limits, steps tagged before they are taken, the verdict in one sentence, and all choices.

import { strip } from "../charts.mjs";
import { fill, h } from "../dom.mjs";
import { drawKnown, drawRefusal, listed } from "../known.mjs";
import * as limits from "../limits.mjs";
import { drawPrice, drawScatter } from "../scatter.mjs";
import { RELATIONS, count, fraction, leftOut, measured, numberOf, people, percent, weighed } from "../words.mjs";

const WAIT = 400; // a limit that is moved by key is asked about when it has come to rest
const LISTED = 8; // safe choices that are listed

let app, open, told, story, moved, waiting, all, near, axis, refused;
let boxes = {};

export async function show(root, given) {
  app = given;
  waiting = null;
  open = true;
  boxes = Object.fromEntries(["limits", "price", "verdict", "columns", "reader", "scatter", "best"].map((name) =>
    [name, h("section", { class: `${name} ${name === "verdict" ? "" : "card"}`, "aria-labelledby": `of-${name}` })]));
  root.append(h("div", { class: "deciding" },
    h("div", {}, boxes.limits),
    h("div", {}, boxes.verdict, boxes.columns, boxes.reader, boxes.best),
    h("div", { class: "right" }, boxes.scatter, boxes.price)));
  await refresh();
  return () => { settle(); all?.stop(); all = null; near?.stop(); near = null; open = false; };
}

export async function refresh() {
  take(await app.ask());
}

// -- what is decided -------------------------------------------------------------------------------------------

function take(answer) {
  const known = told?.summary.requirements;
  told = answer;
  story = null;
  moved = {}; // limits that are being moved, by requirement
  refused = {}; // what was typed as a limit and is none, by requirement
  if (!open) return; // it was left meanwhile
  drawReader();
  app.decided(told.summary);
  const able = told.summary.requirements.filter((asked) => asked.slider);
  axis = able.find((asked) => asked.criterion === axis?.criterion) ?? able.find((asked) => asked.unit === "share") ?? able[0];
  drawLimits();
  if (all?.basis !== told.summary.basis) everything();
  else all.choices = all.choices.map((choice) => limits.renamed(choice, known, told.summary.requirements));
  near?.stop();
  near = null;
  if (missing() || !told.now.decided) allSteps();
  paint();
  if (told.now.decided) tell();
}

async function change(question, screen) {
  clearTimeout(waiting?.clock);
  waiting = null;
  near?.stop(); // nobody waits for the steps around what is left
  try {
    const answer = await app.change(question, screen);
    if (screen) await refresh();
    else take(answer);
    app.say(sentence());
  } catch (problem) {
    app.failed(problem);
    if (open) await refresh();
  }
}

// The stories of the verdicts are asked for after the numbers are shown: they take a little longer.
async function tell() {
  const asked = told;
  try {
    const found = await app.ask({ action: "story" });
    if (asked !== told) return;
    story = found;
    drawVerdict();
    drawColumns();
    drawReader();
    if (told.summary.may_single_out) app.say(sentence()); // only now it is known
  } catch (problem) {
    if (open && asked === told) app.failed(problem); // nobody waits for a story of what was left
  }
}

// All choices, as they become known.
function everything() {
  all?.stop();
  const named = told.summary.requirements;
  const mine = { basis: told.summary.basis, choices: [], done: 0, total: told.summary.choices, running: true };
  let painting = false;
  const later = () => {
    if (painting) return;
    painting = true;
    requestAnimationFrame(() => { painting = false; if (all === mine) paint(); });
  };
  const job = app.work({}, {
    parts: (more) => { mine.choices.push(...more.map((choice) => limits.renamed(choice, named, told.summary.requirements))); later(); },
    progress: (now) => { mine.done = now.done; mine.total = now.total || mine.total; later(); },
  });
  mine.stop = job.stop;
  all = mine;
  job.answer.then((answer) => {
    mine.running = false;
    mine.complete = answer !== null && answer.told === answer.choices;
    later();
  }).catch((problem) => { mine.running = false; app.failed(problem); });
}

// Steps that are not decided yet; those that are known by now among all choices are filled in.
function missing() {
  const key = (levels) => told.summary.columns.map((column) => levels[column.name]).join();
  const known = new Map([...(told.now.decided ? [told.now] : []), ...(all?.choices ?? [])].map((choice) => [key(choice.levels), choice]));
  let n = 0;
  for (const [column, steps] of Object.entries(told.steps)) {
    steps.forEach((choice, level) => {
      steps[level] = choice ?? known.get(key({ ...told.summary.levels, [column]: level })) ?? null;
      if (!steps[level]) n += 1;
    });
  }
  return n;
}

// The steps of every column, where these take long: as they become known.
function allSteps() {
  const asked = told;
  const mine = { done: 0, total: 1 };
  const job = app.work({ do: "steps" }, {
    parts: (more) => {
      if (asked !== told) return;
      for (const choice of more) {
        if (!told.now.decided && levelsIn(choice).join() === levelsIn(told.now).join()) {
          told.now = choice;
          tell();
          app.say(sentence());
        }
        for (const [column, steps] of Object.entries(told.steps)) {
          const differs = Object.entries(choice.levels).some(([name, level]) => name !== column && level !== told.summary.levels[name]);
          if (!differs) steps[choice.levels[column]] = choice;
        }
      }
      requestAnimationFrame(paint);
    },
    progress: (now) => { mine.done = now.done; mine.total = now.total || 1; },
  });
  mine.stop = job.stop;
  near = mine;
  job.answer.then((answer) => { if (answer && asked === told && !told.source) { told.source = answer.source; drawLimits(); } })
    .catch((problem) => { if (open && asked === told) app.failed(problem); })
    .finally(() => { if (near === mine) { near = null; if (open) paint(); } });
}

// -- limits that are moved -------------------------------------------------------------------------------------

const asks = () => ({ summary: told.summary, moved });
const safe = (choice) => limits.safe(asks(), choice);
const levelsIn = (choice) => told.summary.columns.map((column) => choice.levels[column.name]);

// A limit is being moved: everything is compared with it at once; the server is told when it rests.
function move(asked, limit) {
  if (fraction(limit) === null) return;
  moved[asked.requirement] = limit;
  if (asked.requirement in refused) refuse(asked, null);
  clearTimeout(waiting?.clock);
  waiting = { asked, limit, clock: setTimeout(settle, WAIT) };
  requestAnimationFrame(paint);
}

function settle() {
  if (!waiting) return;
  const { asked, limit } = waiting;
  clearTimeout(waiting.clock);
  waiting = null;
  if (limit !== asked.slider.limit) change({ action: "limit", requirement: asked.requirement, limit });
}

// What was typed and is no limit stays, and what one is stands below it.
function refuse(asked, typed) {
  if (typed === null) delete refused[asked.requirement];
  else refused[asked.requirement] = typed;
  const place = boxes.limits.querySelector(`[data-allowed="${CSS.escape(asked.requirement)}"]`);
  const field = boxes.limits.querySelector(`[data-number="${CSS.escape(asked.requirement)}"]`);
  const words = typed === null ? "" : `✖ ${typed || "Nothing"} is no limit: ${limits.scale(asked, told.summary).allowed}. It is still ${limits.scale(asked, told.summary).words(limits.limitOf(asks(), asked))}.`;
  place.textContent = words;
  field.setAttribute("aria-invalid", String(typed !== null));
  if (words) app.say(words);
}

function drawLimits() {
  fill(boxes.limits,
    h("h3", { id: "of-limits" }, "What must hold ", h("span", { class: "hint" }, "move a limit")),
    told.summary.requirements.map(drawLimit),
    told.summary.allowed === "0" ? null
      : h("p", { class: "small" }, `At most ${percent(limits.number(told.summary.allowed))} of the people may be left out, `
        + "so other people may be when a limit moves: the server is asked again."),
    told.summary.unasked.length
      ? h("details", {}, h("summary", {}, `${numberOf(told.summary.unasked.length, "adversary", "adversaries")} not asked about`),
        h("ul", { class: "small" }, told.summary.unasked.map((one) => h("li", {}, `${one.against} (${one.criterion})`))))
      : null);
}

function drawLimit(asked) {
  const key = asked.requirement;
  const status = h("span", { class: "status", "data-status": key });
  const name = h("p", { class: "small" }, asked.requirement);
  if (!asked.slider) {
    return h("div", { class: "limit" },
      h("div", { class: "line" }, h("span", {}, asked.question), status),
      drawNumbers(asked) ?? h("p", { class: "small" }, "it has several limits; change them in privacy.yml"),
      name, before(asked));
  }
  const scale = limits.scale(asked, told.summary);
  const number = h("input", {
    type: "text", id: `limit-${key}`, inputmode: "decimal", "data-key": `number-${key}`, "data-number": key,
    "aria-label": `Limit: ${asked.question} ${RELATIONS[asked.slider.relation]}`, "aria-describedby": `allowed-${key}`,
    value: scale.shown(limits.limitOf(asks(), asked)),
    onchange: (event) => {
      const limit = scale.read(event.target.value);
      if (limit === null) refuse(asked, event.target.value.trim());
      else { move(asked, limit); settle(); }
    },
  });
  const range = h("input", {
    type: "range", min: 0, max: scale.steps, "data-key": `range-${key}`, "data-range": key,
    "aria-label": asked.question, "aria-valuetext": scale.words(limits.limitOf(asks(), asked)),
    value: scale.place(limits.limitOf(asks(), asked)),
    oninput: (event) => move(asked, scale.limit(Number(event.target.value))),
  });
  const fillTo = h("span", { class: "fill", "data-fill": key });
  return h("div", { class: "limit" },
    h("div", { class: "line" }, h("label", { for: `limit-${key}` }, asked.question), status),
    h("div", { class: "gauge" }, h("span", { class: "rail" }, fillTo), range),
    h("p", { class: "small numbers" }, h("span", {}, `${RELATIONS[asked.slider.relation]} `, number, ` ${scale.unit}`), drawNumbers(asked)),
    h("p", { class: "small bad", id: `allowed-${key}`, "data-allowed": key }),
    name, before(asked));
}

// The other numbers of a requirement, such as how many facts: with another one, everything is decided anew.
function drawNumbers(asked) {
  const found = Object.entries(asked.numbers).map(([parameter, value]) => h("label", { class: "small" }, `${parameter} = `, h("input", {
    type: "text", inputmode: "decimal", "data-key": `${parameter}-${asked.requirement}`, value, "aria-label": `${asked.question} ${parameter}`,
    onchange: (event) => change({ action: "limit", requirement: asked.requirement, parameter, limit: event.target.value.trim() }),
  })));
  return found.length ? found : null;
}

// The same number of the source table itself.
function before(asked) {
  const source = told.source && limits.worst(asked, told.source);
  return source ? h("p", { class: "small" }, `in the source itself: ${measured(source.float, asked.unit)}`) : null;
}

// -- what depends on the limits --------------------------------------------------------------------------------

function paint() {
  if (!open) return; // it was left before the next frame
  for (const asked of told.summary.requirements) {
    const good = limits.holdsAt(asks(), asked, told.now);
    const worst = limits.worst(asked, told.now);
    const status = boxes.limits.querySelector(`[data-status="${CSS.escape(asked.requirement)}"]`);
    status.className = good ? "status good" : told.now.decided ? "status bad" : "status";
    status.textContent = !told.now.decided ? pending() : limits.undecided(asked, told.now) ? "✖ not decided" : `${good ? "✔" : "✖"} ${measured(worst?.float, asked.unit)}`;
    if (!asked.slider) continue;
    const scale = limits.scale(asked, told.summary);
    const limit = limits.limitOf(asks(), asked);
    const at = (name) => boxes.limits.querySelector(`[data-${name}="${CSS.escape(asked.requirement)}"]`);
    at("fill").style.width = `${(100 * scale.position(worst?.float ?? null)) / scale.steps}%`;
    at("fill").className = good ? "fill" : "fill over";
    if (document.activeElement !== at("range")) at("range").value = scale.place(limit);
    at("range").setAttribute("aria-valuetext", scale.words(limit));
    if (document.activeElement !== at("number") && !(asked.requirement in refused)) at("number").value = scale.shown(limit);
  }
  drawVerdict();
  drawColumns();
  drawAll();
}

const pending = () => (near ? "being decided" : "not decided");

function sentence() {
  if (!told.now.decided) return near ? "This choice is being decided" : "This choice is not decided";
  const required = told.summary.requirements;
  const fails = required.filter((asked) => !limits.holdsAt(asks(), asked, told.now));
  if (fails.length) return `Not safe: ${fails.length} of ${numberOf(required.length, "requirement")} ${fails.length === 1 ? "fails" : "fail"}`;
  if (refusal()) return `Not safe: ${refusal().message}`;
  const hold = required.length === 1 ? "the requirement holds" : required.length === 2 ? "both requirements hold" : `all ${required.length} requirements hold`;
  if (unread()) return `Not yet known to be safe: ${hold}; somebody who also knows ${listed(told.summary.insensitive)} is being asked about`;
  return `Safe: ${hold}`;
}

// Insensitive columns are asked about as run does it, of the choice of now and no other, once a limit rests.
const unread = () => told.summary.may_single_out && (!story?.known || Object.keys(moved).length > 0);
const refusal = () => (told.summary.may_single_out && !unread() ? story.known.refusal : null);
const unasked = () => (told.summary.may_single_out
  ? `Somebody who also knows ${listed(told.summary.insensitive)} is asked about for the choice of now only, not for these.` : "");
const keeps = () => (told.summary.may_single_out ? "keeps the requirements" : "safe");

// The worst case in a sentence: who it is about, by the labels that are published, and how near to its limit.
function worstCase(verdict) {
  const labels = Object.entries(verdict.group?.labels ?? {}).map(([column, label]) => `${column} ${label}`).join(", ");
  const hidden = verdict.group?.unnamed ?? [];
  const one = hidden.length ? `one value of ${hidden.join(", one of ")} (shown with Show values of people)` : "";
  const whose = [labels, one].filter(Boolean).join(labels && one ? ", and " : "");
  const who = verdict.size === null ? (whose ? "people" : "") : people(verdict.size);
  const asked = told.summary.requirements.find((one) => limits.isAbout(one, verdict.requirement));
  return [
    h("b", {}, asked?.question ?? verdict.requirement), " ",
    who || whose ? ["The worst case is about ", h("b", {}, who, whose ? ` with ${whose}` : ""), ": "] : "Worst case: ",
    h("b", {}, verdict.measured), `, and must be ${verdict.limit}.`];
}

function drawVerdict() {
  if (!told.now.decided) {
    boxes.verdict.className = "verdict";
    fill(boxes.verdict, h("h3", { id: "of-verdict" }, `… ${sentence()}`),
      h("p", { class: "small" }, `It keeps ${percent(told.now.detail)} of the detail${weighed(told.summary)}. Each group of people is asked what it tells alone, `
        + "which takes a while. Another step can be taken meanwhile."));
    return;
  }
  const good = safe(told.now);
  const mark = !good || refusal() ? "✖" : unread() ? "…" : "✔";
  boxes.verdict.className = `verdict ${mark === "✖" ? "fails" : ""}`;
  const stories = story?.verdicts ?? [];
  const closest = [...stories].sort((one, other) => one.slack - other.slack)[0];
  const shown = good ? (closest ? [closest] : []) : stories.filter((one) => {
    const asked = told.summary.requirements.find((other) => limits.isAbout(other, one.requirement));
    return asked ? !limits.holdsAt(asks(), asked, told.now) : !one.safe;
  });
  fill(boxes.verdict,
    h("h3", { id: "of-verdict" }, `${mark} ${sentence()}`),
    shown.map((one) => [
      h("p", {}, good ? "Closest to its limit. " : null, worstCase(one), one.notes.length ? ` ${one.notes.join(" ")}` : ""),
      one.story ? h("details", {}, h("summary", { "data-key": `story-${one.requirement}` }, "How, step by step"), h("p", { class: "small" }, one.story)) : null]),
    story?.undecided && !refusal() ? h("p", {}, story.undecided) : null,
    h("p", { class: "small" }, `Keeps ${percent(told.now.detail)} of the detail${weighed(told.summary)}`,
      told.now.suppressed ? `; ${leftOut(told.now.suppressed, told.now.rows_suppressed)} left out` : "",
      told.now.guess === null ? "" : `; the best guess about anybody is right ${percent(told.now.guess)} of the time`, "."),
    drawKnown(unread() ? null : story?.known),
    drawRefusal(unread() ? null : story?.known, (role) => change({ action: "insensitive", role }, "columns")),
    good ? null : drawHelp());
}

// The one change that makes a failing choice safe at the least cost.
function drawHelp() {
  const { one, other } = limits.help(asks(), told, all?.choices ?? []);
  const words = (column, level) => told.summary.columns.find((c) => c.name === column).steps[level].words;
  if (one) {
    return h("div", { class: "help" },
      h("p", {}, h("b", {}, told.summary.may_single_out ? "One change is enough for the requirements: " : "One change is enough: "), `${one.column} ${words(one.column, one.level)} instead of `
        + `${words(one.column, told.summary.levels[one.column])}. It keeps ${percent(one.choice.detail)} of the detail.`),
      h("button", { type: "button", class: "first", "data-key": "help",
        onclick: () => change({ action: "take", levels: { [one.column]: one.level } }) }, `Publish ${one.column} ${words(one.column, one.level)}`));
  }
  if (other) {
    return h("div", { class: "help" },
      h("p", {}, h("b", {}, "No single column is enough. "), `${told.summary.may_single_out ? "The choice that keeps the requirements and" : "The safe choice that keeps"} the most detail (${percent(other.detail)}): ${inWords(other)}.`),
      h("button", { type: "button", class: "first", "data-key": "help", onclick: () => change({ action: "take", levels: other.levels }) }, "Take it"));
  }
  return all?.complete
    ? h("p", {}, h("b", {}, "No choice is safe. "), "Move a limit, leave people out (max_suppressed), or leave a column out of the release.")
    : null;
}

const inWords = (choice) => told.summary.columns
  .map((column) => `${column.name} ${column.steps[choice.levels[column.name]].words}`).join(", ");

// In which columns a choice differs from the one of now.
function different(choice) {
  const found = told.summary.columns.filter((column) => choice.levels[column.name] !== told.summary.levels[column.name]);
  return found.length ? found.map((column) => `${column.name} ${column.steps[choice.levels[column.name]].words}`).join(", ") : "★ as it is now";
}

function drawColumns() {
  fill(boxes.columns,
    h("h3", { id: "of-columns" }, "How each column is published ",
      h("span", { class: "hint" }, told.summary.guess === null
        ? "each step shows its verdict before you take it"
        : `each step shows its verdict and the best guess${facts()}, before you take it`)),
    unasked() ? h("p", { class: "small" }, unasked()) : null,
    near
      ? h("p", { class: "line" }, h("progress", { max: near.total, value: near.done, "aria-label": "Steps that are decided" }),
        h("button", { type: "button", "data-key": "cancel-steps", onclick: () => near?.stop() }, "Cancel"))
      : null,
    told.summary.columns.map((column) => {
      const level = told.summary.levels[column.name];
      return h("div", { class: "column" },
        h("div", {}, h("h4", {}, column.name), h("p", { class: "small" }, `${percent(column.steps[level].detail)} of its detail kept${told.now.suppressed ? " for those who stay" : ""}`),
          drawStrips(column.name)),
        h("div", { class: "steps", role: "group", "aria-label": column.name },
          told.steps[column.name].map((choice, step) => (choice ? drawStep(column, choice) : drawUnknown(column, column.steps[step])))));
    }));
}

// People by the values of a column, and by its labels as they are published.
function drawStrips(name) {
  const found = story?.columns.find((one) => one.column === name);
  if (!found) return h("div", { class: "strips", "aria-hidden": "true" });
  const most = Math.max(...[...found.before, ...(found.after ?? [])].map((part) => part.people / part.values), 1e-9);
  const words = `${numberOf(found.values, "value")}, published as ${found.left_out ? "nothing" : numberOf(found.labels, "label")}`;
  return h("div", { class: "strips", title: words }, vh(words), strip(found.before, "was", most), h("span", { "aria-hidden": "true" }, "→"),
    found.left_out ? h("span", { class: "out", "aria-hidden": "true" }, "–") : strip(found.after ?? found.before, "now", most));
}

// Rows in the shape of the release that nobody has; with them how many people look alike in it.
function drawReader() {
  boxes.reader.style.visibility = story?.reader ? "visible" : "hidden"; // it keeps its place until the next is known
  if (!story?.reader) return;
  const { shape, fewest, half } = story.reader;
  fill(boxes.reader,
    h("h3", { id: "of-reader" }, "What a reader will see ", h("span", { class: "hint" }, "invented rows in the shape of the release: nobody has these")),
    shape
      ? h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Invented rows" }, h("table", {},
        h("thead", {}, h("tr", {}, shape.header.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, shape.rows.map((row) => h("tr", {}, row.map((label) => h("td", {}, label)))))))
      : h("p", { class: "small" }, "No column is published."),
    fewest
      ? h("p", { class: "small" }, "Everybody in the release looks like at least ", h("b", { class: "fewest" }, people(fewest)),
        ", themselves included, in the columns that somebody may know",
        half > fewest ? `; half of the people, like at least ${people(half)}.` : ".")
      : h("p", { class: "small" }, "Nobody is left in the release."));
}

const facts = () => {
  const asked = told.summary.requirements.find((one) => one.requirement === told.summary.guess);
  return asked && asked.params.k !== "0" ? ` with ${numberOf(Number(asked.params.k), "fact")}` : "";
};

const vh = (words) => h("span", { class: "vh" }, words);

function drawStep(column, choice) {
  const step = column.steps[choice.levels[column.name]];
  const good = safe(choice);
  const size = limits.smallest(told.summary, choice);
  const tag = choice.guess !== null ? percent(choice.guess) : size !== null ? people(size) : good ? keeps() : "not safe";
  const gone = choice.suppressed ? `, ${leftOut(choice.suppressed, choice.rows_suppressed)} left out` : "";
  return h("button", {
    type: "button", class: `step ${good ? "safe" : "fails"}`, disabled: !step.allowed,
    "data-key": `step-${column.name}-${step.level}`,
    "aria-pressed": String(told.summary.levels[column.name] === step.level),
    title: gone ? gone.slice(2) : false,
    onclick: () => change({ action: "take", levels: { [column.name]: step.level } }),
  }, vh(`${column.name} `), step.words,
  h("span", { class: "tag" }, h("span", { "aria-hidden": "true" }, good ? "✔ " : "✖ "),
    vh(step.allowed ? (good ? `: ${keeps()}, ` : ": not safe, ") : ": outside its bounds, "),
    choice.guess === null ? null : vh("best guess "), tag, vh(gone)));
}

// A step that is not decided yet; it can be taken all the same.
function drawUnknown(column, step) {
  return h("button", {
    type: "button", class: "step", disabled: !step.allowed, "data-key": `step-${column.name}-${step.level}`,
    "aria-pressed": String(told.summary.levels[column.name] === step.level),
    onclick: () => change({ action: "take", levels: { [column.name]: step.level } }),
  }, vh(`${column.name} `), step.words, h("span", { class: "tag" }, pending()));
}

// -- all choices -----------------------------------------------------------------------------------------------

function drawAll() {
  const decided = all?.choices ?? [];
  // the choice of now is decided first
  const counts = told.now.decided && !decided.some((choice) => levelsIn(choice).join() === levelsIn(told.now).join());
  const known = counts ? [told.now, ...decided] : decided;
  const judged = known.map((choice) => ({ choice, safe: safe(choice) }));
  const n = judged.filter((one) => one.safe).length;
  const running = all?.running;
  fill(boxes.scatter,
    h("h3", { id: "of-scatter" }, all.complete ? `All ${numberOf(told.summary.choices, "choice")}` : `${count(known.length)} of ${numberOf(told.summary.choices, "choice")}`,
      h("span", { class: "hint" }, ` ${count(n)} ${told.summary.may_single_out ? "keep the requirements" : "safe"}${running ? ", the others being decided" : ""}`)),
    running
      ? h("p", { class: "line" }, h("progress", { max: all.total, value: all.done, "aria-label": "Choices that are decided" }),
        h("button", { type: "button", "data-key": "cancel", onclick: () => all.stop() }, "Cancel"))
      : null,
    axis ? [drawAxis(), drawScatter({ asks: asks(), axis, told, judged, levelsIn, inWords, complete: all?.complete, keeps: keeps(),
      move: (limit) => move(axis, limit), take: (choice) => change({ action: "take", levels: choice.levels }) })] : null);
  const best = judged.filter((one) => one.safe).sort((one, other) => other.choice.detail - one.choice.detail).slice(0, LISTED);
  fill(boxes.best,
    h("h3", { id: "of-best" }, told.summary.may_single_out ? "Choices that keep the requirements and the most detail" : "Safe choices that keep the most detail"),
    unasked() ? h("p", { class: "small" }, unasked()) : null,
    best.length ? h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Safe choices" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "choice"), h("th", { scope: "col", class: "n" }, "detail"),
        told.summary.guess === null ? null : h("th", { scope: "col", class: "n" }, "best guess"), h("th", { scope: "col" }, h("span", { class: "vh" }, "take it")))),
      h("tbody", {}, best.map(({ choice }, place) => h("tr", {},
        h("td", {}, different(choice)), h("td", { class: "n" }, percent(choice.detail)),
        told.summary.guess === null ? null : h("td", { class: "n" }, percent(choice.guess)),
        h("td", {}, h("button", { type: "button", "data-key": `best-${place}`, "aria-label": `Take: ${inWords(choice)}`,
          onclick: () => change({ action: "take", levels: choice.levels }) }, "Take"))))))) : h("p", { class: "small" }, running ? "None yet." : "None."));
  fill(boxes.price,
    h("h3", { id: "of-price" }, axis ? `What the limit costs` : "What limits cost"),
    axis && known.length ? drawPrice({ asks: asks(), axis, told, choices: known, complete: all?.complete, running, move: (limit) => move(axis, limit) })
      : h("p", { class: "small" }, axis ? "Known when choices are decided." : "No requirement has one limit that could be moved."));
}

function drawAxis() {
  const able = told.summary.requirements.filter((asked) => asked.slider);
  if (able.length < 2) return null;
  return h("p", { class: "small" }, h("label", {}, "Risk shown: ", h("select", {
    "data-key": "axis", onchange: (event) => { axis = able[event.target.selectedIndex]; paint(); },
  }, able.map((asked) => h("option", { selected: asked === axis }, limits.titled(asked))))));
}
