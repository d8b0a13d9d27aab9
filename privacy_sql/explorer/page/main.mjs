// The frame of the page: tabs, the address, what all screens know, and words when something goes wrong.

import { fill, h } from "./dom.mjs";
import { Refused, ask, change, listen, settled, stayAlive, tabs, work } from "./server.mjs";
import { count, people } from "./words.mjs";

const place = (name) => document.getElementById(name);

// What every screen is given. `summary` is what is decided: see Decision.summary.
export const app = {
  summary: null,
  screen: null,
  values: false, // whether the switch for values of people is on; never kept, never in the address
  ask: (question = {}, screen = app.screen) => ask(screen, app.values ? { ...question, values: true } : question),
  work: (question = {}, hears = {}, screen = app.screen) =>
    work(screen, app.values ? { ...question, values: true } : question, hears),
  change: (question, screen = app.screen) =>
    change(screen, app.values ? { ...question, values: true } : question, () => app.summary.version, decided),
  decided,
  say,
  failed,
  go,
  parameters,
};

const modules = new Map();
let titles = [];
let close = null; // what a screen asked to be called when it is left
let shown = Promise.resolve(); // what is shown one after another: a screen that is left early is closed too

// -- the address: #screen?name=value, never a value of a person ------------------------------------------------

function parameters() {
  const [screen, query = ""] = location.hash.slice(1).split("?");
  return { screen: decodeURIComponent(screen), ...Object.fromEntries(new URLSearchParams(query)) };
}

// Go to a screen; the step back of the browser returns. `quietly` replaces the address instead.
function go(screen, more = {}, { quietly = false } = {}) {
  const query = new URLSearchParams(more).toString();
  const address = `#${encodeURIComponent(screen)}${query ? `?${query}` : ""}`;
  if (quietly) history.replaceState(null, "", address);
  else if (location.hash !== address) location.hash = address;
}

// -- what is said ----------------------------------------------------------------------------------------------

// Say something to people who do not see the page.
function say(words) {
  place("said").textContent = words;
}

// Show what went wrong where the screen is, and say it.
function failed(problem) {
  if (!(problem instanceof Refused)) throw problem;
  if (problem.code === "gone" || problem.code === "left") return; // both are told already
  const box = h("div", { class: "problem", role: "alert", tabindex: "-1" },
    h("p", {}, `${problem.message}. ${problem.hint}`),
    h("button", { type: "button", onclick: () => box.remove() }, "Close"));
  document.querySelector("main > .problem")?.remove();
  place("main").prepend(box);
  box.focus();
}

// -- what is decided -------------------------------------------------------------------------------------------

// Something was decided, or read anew: show it above the screens.
function decided(summary) {
  app.summary = summary;
  place("project").textContent = summary.project;
  place("release").textContent = summary.project ? ` / ${summary.release}` : summary.release;
  place("size").textContent =
    `${people(summary.people)} in ${count(summary.combinations)} combinations`;
  place("state").textContent = summary.unsaved ? "Changed, not saved" : "As privacy.yml says";
  place("undo").disabled = !summary.can_undo;
  document.title = `${summary.release}: privacy_sql explorer`;
}

async function undo() {
  try {
    await app.change({ action: "undo" }, "decide");
    say("The last change is undone.");
    await show();
  } catch (problem) {
    failed(problem);
  }
}

// -- screens ---------------------------------------------------------------------------------------------------

function show() {
  shown = shown.then(draw, draw).catch(failed);
  return shown;
}

// What a screen is given: its own questions go to it, also those that end after it was left.
function given(screen) {
  return Object.assign(Object.create(app), {
    ask: (question, other = screen) => app.ask(question, other),
    work: (question, hears, other = screen) => app.work(question, hears, other),
    change: (question, other = screen) => app.change(question, other),
  });
}

async function draw() {
  const wanted = parameters().screen;
  const screen = titles.some((one) => one.name === wanted) ? wanted : (titles.find((one) => one.name === "decide") ?? titles[0]).name;
  const moved = app.screen !== screen;
  app.screen = screen;
  for (const link of document.querySelectorAll("#tabs a")) {
    if (link.dataset.key === `tab-${screen}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!modules.has(screen)) modules.set(screen, await import(`./screens/${screen}.mjs`));
  const module = modules.get(screen);
  if (!moved && module.refresh) {
    await module.refresh();
    return;
  }
  close?.();
  close = null;
  await settled(); // a limit that was moved last is decided before anything else is shown
  const root = h("section", { class: `screen ${screen}`, "aria-labelledby": "screen-title" },
    h("h2", { id: "screen-title", class: "vh" }, titles.find((one) => one.name === screen).title));
  fill(place("main"), root);
  try {
    close = (await module.show(root, given(screen))) ?? null;
  } catch (problem) {
    failed(problem);
  }
}

async function begin() {
  const first = new URLSearchParams(location.search);
  if (first.has("token")) history.replaceState(null, "", `/${location.hash}`); // it was used, and is not kept
  listen("gone", (gone) => {
    place("gone").hidden = !gone;
    place("gone").textContent = gone
      ? "The explorer has ended or does not answer. What was saved is in privacy.yml; start privacy-sql explore again."
      : "";
  });
  const told = await tabs();
  titles = told.screens;
  fill(place("tabs"), titles.map((one) =>
    h("li", {}, h("a", { href: `#${one.name}`, "data-key": `tab-${one.name}` }, one.title))));
  decided(told);
  listen("version", async (version) => {
    if (version > app.summary.version && !busy) {
      busy = true;
      try {
        decided(await tabs());
        await show();
        say("Something was changed in another tab; the page shows it.");
      } finally {
        busy = false;
      }
    }
  });
  place("undo").addEventListener("click", undo);
  place("values").checked = false;
  place("values").addEventListener("change", (event) => { app.values = event.target.checked; show(); });
  addEventListener("hashchange", show);
  stayAlive();
  await show();
}

let busy = false;
begin().catch((problem) => { if (problem instanceof Refused) failed(problem); else throw problem; });
