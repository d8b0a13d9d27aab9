// Columns: what each holds in counts, its role, and how its values are generalised.

import { fill, h } from "../dom.mjs";
import { draggable } from "../dragging.mjs";
import { count, numberOf, people, percent } from "../words.mjs";

const ROLES = {
  identifier: ["identifier", "names the person, and is never published"], quasi: ["quasi-identifier", "somebody may know it, so it is published coarser"],
  sensitive: ["sensitive", "nobody should learn it about a person"], insensitive: ["as it is", "published unchanged; nobody knows it about a person"],
  known: ["as it is, also known", "published unchanged; somebody may know it"], drop: ["left out", "not published"],
};
const KINDS = {
  intervals: ["bands of equal width", "widths, each a multiple of the one before: 5, 10, 20"],
  breaks: ["bands between cut points", "cut points, a semicolon between levels: 18, 30, 65; 18, 65"],
  mask: ["first characters", "how many are kept, fewer at each level: 4, 3, 0"],
  dates: ["dates", "month, quarter, year, five_years, decade"],
  keep_or_drop: ["kept or removed", ""],
  as_is: ["as it is, at every level", ""],
  tree: ["groups of labels (a file)", ""],
};
const LISTED = 12; // labels of a level that are shown before somebody asks for all

let app, root, told, counts, singled, jobs, editing, preview, marked, boxes;

export async function show(into, given) {
  [app, root] = [given, into];
  counts = null; singled = null; preview = null; marked = new Set(); editing = null;
  jobs = [];
  boxes = { table: h("section", { class: "card", "aria-labelledby": "of-roles" }), sets: h("section", { class: "card", "aria-labelledby": "of-sets" }),
    editor: h("section", { class: "card", "aria-labelledby": "of-editor" }) };
  draggable(boxes.editor, fits, dropped);
  root.append(h("div", { class: "columning" }, h("div", {}, boxes.table, boxes.sets), boxes.editor));
  await refresh();
  const job = app.work({ do: "profile" });
  jobs.push(job);
  job.answer.then((found) => { counts = found; drawTable(); }).catch(app.failed);
  return () => jobs.forEach((one) => one.stop());
}

export async function refresh() {
  take(await app.ask());
  await look(app.parameters().column ?? told.columns.find((one) => one.hierarchy)?.name);
}

function take(answer) {
  told = answer;
  app.decided(told.summary);
  drawTable();
  drawSets();
}

async function change(question, words) {
  try {
    take(await app.change(question));
    app.say(words);
    await look(editing?.name);
  } catch (problem) {
    app.failed(problem);
    await refresh();
  }
}

// -- roles -----------------------------------------------------------------------------------------------------

function drawTable() {
  fill(boxes.table,
    h("h3", { id: "of-roles" }, "Columns ", h("span", { class: "hint" }, counts ? "counted in the source" : "being counted …")),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Columns and their roles" }, h("table", {},
      h("thead", {}, h("tr", {}, ["column", "role", "values", "missing", "alone", "why"].map((word, place) =>
        h("th", { scope: "col", class: place > 1 && place < 5 ? "n" : "" }, word)))),
      h("tbody", {}, told.columns.map(drawRow)))),
    h("details", {}, h("summary", { "data-key": "roles" }, "What the roles mean"),
      h("ul", { class: "small" }, told.roles.map((role) => h("li", {}, h("b", {}, ROLES[role][0]), `: ${ROLES[role][1]}`)))),
    h("p", { class: "small" }, "Alone: the share of rows that nobody else shares the value of. At most eight columns are proposed as "
      + "quasi-identifiers, those that tell people apart most and that a stranger can know."));
}

function drawRow(column) {
  const found = counts?.[column.name];
  const differs = found && found.proposed !== column.role && !(found.proposed === "drop" && !column.named);
  return h("tr", {},
    h("th", { scope: "row" }, column.hierarchy
      ? h("button", { type: "button", class: "link", "data-key": `look-${column.name}`, "aria-pressed": String(editing?.name === column.name),
        onclick: () => { app.go("columns", { column: column.name }); } }, column.name) : column.name),
    h("td", {}, h("select", { "data-key": `role-${column.name}`, "aria-label": `Role of ${column.name}`, disabled: !told.can_edit,
      onchange: (event) => change({ action: "role", column: column.name, role: event.target.value }, `${column.name} is ${ROLES[event.target.value][0]}`) },
    told.roles.map((role) => h("option", { value: role, selected: role === column.role }, ROLES[role][0])))),
    h("td", { class: "n" }, found ? count(found.values) : ""),
    h("td", { class: "n" }, found ? count(found.missing) : ""),
    h("td", { class: "n" }, found ? percent(found.alone) : ""),
    h("td", {}, found ? found.why || "as privacy.yml says" : "", differs ? h("p", {}, h("button", { type: "button", "data-key": `accept-${column.name}`,
      onclick: () => change({ action: "role", column: column.name, role: found.proposed }, `${column.name} is ${ROLES[found.proposed][0]}`) },
    `Accept: ${ROLES[found.proposed][0]}`)) : ""));
}

function drawSets() {
  fill(boxes.sets,
    h("h3", { id: "of-sets" }, "Which columns single people out"),
    singled === null
      ? h("p", {}, h("button", { type: "button", "data-key": "identify", onclick: identify }, "Look at sets of up to three columns"))
      : [h("p", {}, singled.singled.map((one) => `${people(one.people)} with ${numberOf(one.columns, "column")}`).join(", "), ` of ${people(singled.people)}.`),
        singled.sets.length ? h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Sets of columns" }, h("table", {},
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "who knows"), h("th", { scope: "col", class: "n" }, "finds alone"))),
          h("tbody", {}, singled.sets.map((one) => h("tr", {}, h("td", {}, one.columns.join(", ")), h("td", { class: "n" }, people(one.alone))))))) : null]);
}

async function identify(event) {
  event.target.disabled = true;
  const job = app.work({ do: "identify" }, { progress: (now) => { if (event.target.isConnected) event.target.textContent = now.task || "Counting"; } });
  jobs.push(job);
  try {
    singled = await job.answer;
    drawSets();
    app.say("Sets of columns are counted.");
  } catch (problem) {
    app.failed(problem);
    drawSets();
  }
}

// -- hierarchies -----------------------------------------------------------------------------------------------

async function look(name) {
  const column = told.columns.find((one) => one.name === name && one.hierarchy);
  if (!column) {
    editing = null;
    fill(boxes.editor, h("h3", { id: "of-editor" }, "Hierarchy"), h("p", {}, "Choose a quasi-identifier on the left."));
    return;
  }
  editing = { name, kind: column.hierarchy.kind, parameters: column.hierarchy.parameters, is: column.hierarchy, level: editing?.name === name ? editing.level : 1 };
  marked = new Set();
  await see(false);
}

// What the hierarchy in the editor would come to; `typed` leaves it unsaved.
async function see(typed) {
  const { name, kind, parameters } = editing;
  try {
    const found = await app.ask({ action: "preview", column: name, ...(typed ? { kind, parameters } : {}) });
    if (editing?.name !== name) return;
    preview = found;
    preview.typed = typed;
    editing.problem = "";
  } catch (problem) {
    if (!problem.code || problem.code === "gone") throw problem;
    preview = null;
    editing.problem = `${problem.message}. ${problem.hint}`;
  }
  drawEditor();
}

function drawEditor() {
  const [, help] = KINDS[editing.kind] ?? ["", ""];
  const kinds = Object.keys(KINDS).filter((kind) => kind !== "tree" || editing.is.kind === "tree");
  fill(boxes.editor,
    h("h3", { id: "of-editor" }, `How ${editing.name} is generalised`),
    h("p", { class: "entry" }, h("label", { for: "kind" }, "Kind "), h("select", { id: "kind", "data-key": "kind",
      onchange: (event) => { editing.kind = event.target.value; editing.parameters = editing.kind === editing.is.kind ? editing.is.parameters : ""; preview = null; drawEditor(); } },
    kinds.map((kind) => h("option", { value: kind, selected: kind === editing.kind }, KINDS[kind][0])))),
    help ? h("p", { class: "entry" }, h("label", { for: "parameters" }, help), h("input", { type: "text", id: "parameters", "data-key": "parameters",
      value: editing.parameters, onchange: (event) => { editing.parameters = event.target.value; see(true); } })) : null,
    h("p", { class: "buttons" },
      h("button", { type: "button", "data-key": "preview", onclick: () => see(true) }, "Preview"),
      h("button", { type: "button", class: "first", "data-key": "use", disabled: !told.can_edit || !preview?.typed || preview.problems.length > 0,
        onclick: () => change({ action: "hierarchy", column: editing.name, kind: editing.kind, parameters: editing.parameters }, `${editing.name} has another hierarchy`) },
      "Use it")),
    editing.problem ? h("p", { class: "bad", role: "alert" }, `✖ ${editing.problem}`) : null,
    (preview?.problems ?? []).map((problem) => h("p", { class: "bad", role: "alert" }, `✖ ${problem}`)),
    preview ? drawLevels() : null);
}

function drawLevels() {
  const levels = preview.levels;
  const at = Math.min(editing.level, levels.length - 1);
  const inner = !preview.typed && at > 0 && at < levels.length - 1; // its labels can be merged
  const movable = told.can_edit && !preview.typed && at < levels.length - 2; // its labels have parents below the top
  return [
    h("div", { class: "steps", role: "group", "aria-label": "Levels" }, levels.map((level, place) =>
      h("button", { type: "button", class: "step", "data-key": `level-${place}`, "aria-pressed": String(place === at),
        onclick: () => { editing.level = place; marked = new Set(); drawEditor(); } },
      level.words, h("span", { class: "tag" }, numberOf(level.n, "label"))))),
    drawLabels(levels[at], at, inner, movable),
    movable ? drawParents(levels[at + 1]) : null,
    told.can_edit && !preview.typed ? drawTree(at, inner, movable) : null];
}

// A label is dragged: onto another one of its level, which merges them, or onto a group of the level above.
const fits = (drag, drop) => drop !== `label-${drag}`;

function dropped(drag, drop) {
  const [kind, number] = drop.split("-");
  const level = Math.min(editing.level, preview.levels.length - 1);
  const labels = [...(marked.has(Number(drag)) ? marked : [Number(drag)])].map(String);
  if (kind === "parent") {
    tree({ what: "move", level, labels, parent: number }, "The labels are moved");
  } else {
    const target = preview.levels[level].labels.find((one) => one.number === Number(number));
    const into = target.label ?? document.getElementById("into").value;
    tree({ what: "merge", level, labels: [...labels, number], into }, `The labels are merged into ${into}`);
  }
}

const tree = (more, words) => change({ action: "tree", column: editing.name, ...more }, words);

// The groups of the level above, onto which labels can be dragged; by keyboard they are chosen below.
function drawParents(above) {
  return h("div", { class: "parents" }, h("p", { class: "small" }, "Drag a label onto the group it belongs to:"),
    h("ul", {}, above.labels.map((one) => h("li", { "data-drop": `parent-${one.number}` },
      one.label ?? `label ${one.number + 1}`, h("span", { class: "small" }, ` ${people(one.people)}`)))));
}

function drawLabels(level, at, inner, movable) {
  const markable = inner || movable;
  const most = Math.max(...level.labels.map((one) => one.people), 1);
  const shown = editing.all ? level.labels : level.labels.slice(0, LISTED);
  return h("div", {},
    h("ul", { class: "labels" }, shown.map((one) => {
      const words = one.label ?? `${at === 0 ? "value" : "label"} ${one.number + 1}`;
      const id = `label-${one.number}`;
      return h("li", { "data-drag": markable ? one.number : false, "data-drop": inner ? `label-${one.number}` : false },
        markable ? h("input", { type: "checkbox", id, "data-key": id, checked: marked.has(one.number),
          onchange: (event) => { if (event.target.checked) marked.add(one.number); else marked.delete(one.number); } }) : h("span", {}),
        h("span", {}, markable ? h("span", { class: "grip", "aria-hidden": "true" }, "⠿ ") : null,
          h(markable ? "label" : "span", { class: "name", for: markable ? id : false }, words)),
        h("meter", { min: 0, max: most, value: one.people, "aria-label": people(one.people) }),
        h("span", { class: "n" }, people(one.people), at > 0 ? h("span", { class: "small" }, ` ${numberOf(one.values, "value")}`) : null));
    })),
    level.labels.length > LISTED && !editing.all ? h("button", { type: "button", "data-key": "all", onclick: () => { editing.all = true; drawEditor(); } },
      `Show ${numberOf(level.labels.length - LISTED, "more label")}`) : null,
    level.n > level.labels.length ? h("p", { class: "small" }, `${count(level.n - level.labels.length)} more, each of fewer people.`) : null,
    level.labels.some((one) => one.label === null) ? h("p", { class: "small" }, "Values of people are numbered; the switch above shows them.") : null);
}

function drawTree(at, inner, movable) {
  const value = (name) => document.getElementById(name).value;
  return h("fieldset", {}, h("legend", {}, "Groups of labels"),
    inner ? [
      h("p", { class: "entry" }, h("label", { for: "into" }, "Merge the marked labels into"),
        h("input", { type: "text", id: "into", "data-key": "into", value: "Other" }),
        h("button", { type: "button", "data-key": "merge", onclick: () => tree({ what: "merge", level: at, labels: [...marked].map(String), into: value("into") }, "The labels are merged") }, "Merge")),
      h("p", { class: "entry" }, h("label", { for: "small" }, "Merge every label of fewer people than"),
        h("input", { type: "number", id: "small", min: 2, "data-key": "small", value: 100 }),
        h("button", { type: "button", "data-key": "merge-small", onclick: () => tree({ what: "merge", level: at, small: Number(value("small")), into: value("into") }, "Small labels are merged") }, "Merge small labels")),
      h("p", { class: "small" }, "Or drag a label onto another one: both become that one."),
      h("p", {}, h("button", { type: "button", "data-key": "drop-level", onclick: () => tree({ what: "drop", level: at }, "The level is taken out") }, "Take this level out")),
    ] : h("p", { class: "small" }, "Labels of the levels between exact and removed can be merged."),
    movable ? h("p", { class: "entry" }, h("label", { for: "parent" }, "Move what is marked under"),
      h("select", { id: "parent", "data-key": "parent" }, preview.levels[at + 1].labels.map((one) =>
        h("option", { value: one.number }, `${one.label ?? `label ${one.number + 1}`} (${people(one.people)})`))),
      h("button", { type: "button", "data-key": "move", onclick: () => tree({ what: "move", level: at, labels: [...marked].map(String), parent: value("parent") },
        "The labels are moved") }, "Move")) : null,
    h("p", { class: "entry" }, h("label", { for: "level-name" }, "Add a level above, called"), h("input", { type: "text", id: "level-name", "data-key": "level-name", value: "" }),
      h("button", { type: "button", "data-key": "add-level", onclick: () => { editing.level = preview.levels.length - 1; tree({ what: "level", name: value("level-name") }, "A level is added"); } }, "Add")),
    h("p", { class: "small" }, "Saved as a new file in hierarchies/ when the decision is saved; no file is overwritten."));
}
