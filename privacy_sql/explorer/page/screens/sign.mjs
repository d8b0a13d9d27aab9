// Sign: the difference, the reasons, and then the file, the release, its report and the register.

import { fill, h } from "../dom.mjs";
import { drawKnown, drawRefusal } from "../known.mjs";
import { count, leftOut, numberOf, percent, weighed } from "../words.mjs";

const WORDS = {
  purpose: "What it is published for", recipient: "Who gets it", name: "Your name", role: "Your role",
  conditions: "Under which conditions", review: "When it is looked at again (a day, such as 2027-01-31)",
};

const SHORT = ["name", "role", "review"]; // one line each

let app, root, told, job, done;
let refused = {}; // what was typed into a field and is not taken, with what is wrong, by the field's key
let stopped = null; // the version of the decision that run did not publish

export async function show(into, given) {
  [app, root] = [given, into];
  job = null;
  done = [];
  refused = {};
  stopped = null;
  await refresh();
  return () => { job = null; };
}

export async function refresh() {
  take(await app.ask());
}

function take(answer) {
  told = answer;
  const there = [...told.fields.map((key) => `sign-${key}-`), ...told.summary.requirements.map((one) => `sign-reasons-${one.criterion}`)];
  refused = Object.fromEntries(Object.entries(refused).filter(([key]) => there.includes(key)));
  app.decided(told.summary);
  draw();
}

async function change(question, words, screen) {
  try {
    const answer = await app.change(question, screen);
    if (screen) await refresh();
    else take(answer);
    if (words) app.say(words);
    return true;
  } catch (problem) {
    app.failed(problem);
    await refresh();
    return false;
  }
}

// A word of a person is taken, or it stays as it was typed, with what is wrong about it; then nothing is saved.
async function note(key, question) {
  try {
    const answer = await app.change(question);
    delete refused[key];
    take(answer);
  } catch (problem) {
    if (!problem.code || ["gone", "left", "changed_meanwhile"].includes(problem.code)) {
      app.failed(problem);
      await refresh();
      return;
    }
    refused[key] = { words: question.words, why: `${problem.message}. ${problem.hint}` };
    draw();
    app.say(refused[key].why);
  }
}

function draw() {
  if (told.file === null) {
    fill(root, title(), h("section", { class: "card" }, h("h3", {}, "Nothing to sign"),
      h("p", {}, "This table is not in a privacy.yml. Create a project with privacy-sql init --from FILE, and open that.")));
    return;
  }
  fill(root, title(),
    h("div", { class: "signing" },
      h("div", {}, drawVerdict(), drawReasons()),
      h("div", {}, drawDifference(), drawSteps(), drawOut())));
}

const title = () => h("h2", { id: "screen-title", class: "vh" }, "Sign");

function drawVerdict() {
  const { now } = told;
  const unpublished = now.safe && stopped === told.summary.version;
  return h("section", { class: `verdict ${now.safe && !unpublished ? "" : "fails"}`, "aria-labelledby": "of-now" },
    h("h3", { id: "of-now" }, unpublished ? "✖ Run did not publish this choice; the reason stands under Publish"
      : now.safe ? "✔ This choice can be signed" : "✖ This choice is not safe: run will publish nothing"),
    h("p", {}, told.summary.columns.map((column) => `${column.name} ${column.steps[told.summary.levels[column.name]].words}`).join(", "),
      `. It keeps ${percent(now.detail)} of the detail${weighed(told.summary)}`, now.suppressed ? `; ${leftOut(now.suppressed, now.rows_suppressed)} ${now.suppressed === 1 ? "is" : "are"} left out.` : "."),
    drawKnown(now.known),
    drawRefusal(now.known, (role) => change({ action: "insensitive", role }, "The insensitive columns have another role.", "columns")));
}

function drawReasons() {
  const field = (key, label, value, requirement = "") => {
    const id = `sign-${key}-${requirement}`;
    const wrong = refused[id];
    return h("p", { class: "entry" }, h("label", { for: id }, label),
      h(SHORT.includes(key) ? "input" : "textarea", { id, type: SHORT.includes(key) ? "text" : false, rows: SHORT.includes(key) ? false : 2, "data-key": id, value: wrong?.words ?? value,
        "aria-invalid": wrong ? "true" : false, "aria-describedby": wrong ? `${id}-wrong` : false,
        onchange: (event) => note(id, { action: "signoff", field: key, words: event.target.value, requirement }) }),
      wrong ? h("span", { class: "bad", id: `${id}-wrong` }, `✖ ${wrong.why}`) : null);
  };
  const asked = [...new Map(told.summary.requirements.map((one) => [one.criterion, one])).values()];
  return h("section", { class: "card", "aria-labelledby": "of-reasons" },
    h("h3", { id: "of-reasons" }, "Why ", h("span", { class: "hint" }, "is kept in privacy.yml, the manifest and the internal report")),
    told.fields.map((key) => field(key, WORDS[key] ?? key, told.signoff[key] ?? "")),
    asked.map((one) => field("reasons", `${one.question} Why this limit: ${told.summary.requirements.filter((each) => each.criterion === one.criterion).map((each) => each.requirement).join(" and ")}`,
      told.reasons[one.criterion] ?? "", one.criterion)));
}

function drawDifference() {
  const changed = told.difference.length > 0;
  const wrong = Object.keys(refused).map((key) => root.querySelector(`label[for="${CSS.escape(key)}"]`)?.textContent ?? key);
  return h("section", { class: "card", "aria-labelledby": "of-difference" },
    h("h3", { id: "of-difference" }, "1. Save ", h("span", { class: "hint" }, "what would change in privacy.yml; comments and order stay")),
    changed
      ? h("pre", { class: "difference", tabindex: "0", role: "region", "aria-label": "Difference of privacy.yml" },
        told.difference.map((line) => h("span", { class: line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : "same" }, `${line}\n`)))
      : wrong.length ? null : h("p", {}, "privacy.yml says all of it already."),
    wrong.length ? h("p", { class: "bad", role: "alert" }, `✖ Nothing is saved before this is mended: ${wrong.join("; ")}.`) : null,
    drawMethod(changed),
    h("button", { type: "button", class: changed && !wrong.length ? "first" : "", disabled: !changed || wrong.length > 0, "data-key": "save",
      onclick: () => change({ action: "save" }, "privacy.yml is saved.") }, "Save to privacy.yml"));
}

// What run does with the choice, where privacy.yml names another method than levels that somebody chose.
function drawMethod(changed) {
  const { method } = told.summary;
  if (method === "generalise" || method === null) return null;
  if (changed) return h("p", { class: "method" }, `The method ${method} is replaced: run then publishes the levels of this page, and no others.`);
  return h("p", { class: "method" }, method === "full_domain"
    ? "run looks for the levels by itself (full_domain); the levels shown are those it finds on this table."
    : `run publishes by ${method}, which is not decided here: the verdict beside is about the levels of this page.`);
}

function drawSteps() {
  const unsaved = told.difference.length > 0 || Object.keys(refused).length > 0;
  const busy = Boolean(job);
  const replaces = told.out !== null;
  return h("section", { class: "card", "aria-labelledby": "of-steps" },
    h("h3", { id: "of-steps" }, "2. Publish ", h("span", { class: "hint" }, told.target ? `to ${told.target}` : "privacy.yml names no output")),
    unsaved ? h("p", { class: "small" }, "Save first: what is published is what privacy.yml says.") : null,
    replaces ? h("p", {}, h("label", { class: "switch" },
      h("input", { type: "checkbox", id: "overwrite", "data-key": "overwrite" }), " Replace the release that is out")) : null,
    h("p", { class: "buttons" },
      h("button", { type: "button", class: unsaved ? "" : "first", disabled: unsaved || busy || !told.target, "data-key": "run",
        onclick: () => begin("run", { overwrite: Boolean(document.getElementById("overwrite")?.checked) }) }, "Run: publish and verify"),
      h("button", { type: "button", disabled: unsaved || busy || !told.out, "data-key": "report", onclick: () => begin("report") }, "Make the report"),
      h("button", { type: "button", disabled: unsaved || busy || !told.out, "data-key": "register", onclick: () => begin("register") }, "Register")),
    busy ? h("p", { class: "line" }, h("span", {}, job.words), job.finishing ? null
      : h("button", { type: "button", "data-key": "stop", onclick: () => job.stop() }, "Cancel")) : null,
    done.map((one) => h("div", { class: one.good ? "done" : "done bad-ground" }, one.lines.map((line) => h("p", {}, line)))),
    told.report ? h("p", {}, "Report: ", h("code", {}, told.report), " ",
      h("button", { type: "button", "data-key": "open", onclick: () => change({ action: "open" }) }, "Open it")) : null,
    h("p", { class: "small" }, told.register.kept
      ? `The register knows ${numberOf(told.register.names.length, "release")}${told.register.names.length ? `: ${told.register.names.join(", ")}` : ""}; run enters this one.`
      : "No register is kept yet; Register begins one."));
}

async function begin(task, more = {}) {
  const work = app.work({ do: task, ...more }, { progress: (now) => {
    if (job?.stop !== work.stop) return;
    job = { stop: work.stop, words: now.task || "working", finishing: now.finishing };
    const line = root.querySelector(".line span");
    if (line) line.textContent = job.words;
  } }, "sign");
  job = { stop: work.stop, words: "working", finishing: false };
  done = [];
  draw();
  try {
    const answer = await work.answer;
    stopped = task === "run" && !(answer?.published && answer.exit === 0) ? told.summary.version : null;
    done = [answer === null ? { good: false, lines: ["Cancelled; nothing was published."] } : said(task, answer)];
  } catch (problem) {
    app.failed(problem);
  }
  job = null;
  await refresh();
  if (done.length) app.say(done[0].lines.join(" "));
}

function said(task, answer) {
  if (task === "report") return { good: true, lines: [`✔ The report is written: ${answer.file}`] };
  if (task === "register") return { good: true, lines: [`✔ Registered ${answer.registered}, read by ${answer.columns.join(", ")}.`] };
  const warnings = answer.warnings.map((one) => `Note: ${one}`);
  if (answer.published && answer.exit === 0) {
    return { good: true, lines: [
      `✔ Published ${count(answer.rows_out)} rows to ${answer.target}${answer.suppressed ? `; ${numberOf(answer.suppressed, "row")} left out` : ""}.`,
      answer.verified ? "✔ Verified: the file is, byte for byte, what was judged." : "The manifest is written.", ...warnings] };
  }
  return { good: false, lines: ["✖ Not published.", ...answer.errors.map((one) => `${one.message}. ${one.hint}`), ...warnings] };
}

function drawOut() {
  if (told.out === null) return h("section", { class: "card" }, h("h3", {}, "No release is out yet"), h("p", {}, "This one would be the first."));
  if (told.out.problem) return h("section", { class: "card" }, h("h3", {}, "The release that is out"), h("p", { class: "bad" }, told.out.problem));
  return h("section", { class: "card", "aria-labelledby": "of-out" },
    h("h3", { id: "of-out" }, "Against the release that is out ", h("span", { class: "hint" }, `made ${told.out.made}, ${count(told.out.rows)} rows`)),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Columns then and now" }, h("table", {},
      h("thead", {}, h("tr", {}, ["column", "out now", "decided", ""].map((word) => h("th", { scope: "col" }, word || h("span", { class: "vh" }, "changed"))))),
      h("tbody", {}, told.out.columns.map((one) => h("tr", {},
        h("th", { scope: "row" }, one.column), h("td", {}, one.then ?? "not published"), h("td", {}, one.now ?? "not published"),
        h("td", {}, one.then === one.now ? "" : "changed")))))),
    told.out.gone.length ? h("p", {}, `No longer required: ${told.out.gone.join(", ")}`) : null,
    told.out.added.length ? h("p", {}, `New: ${told.out.added.join(", ")}`) : null);
}
