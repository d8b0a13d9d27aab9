// Questions to the server on this machine. It is the only place that is ever asked.

export class Refused extends Error {
  constructor(error) {
    const parts = error.parts?.length > 1 ? error.parts : [error];
    super(parts.map((part) => (part.where ? `${part.message} (${part.where})` : part.message)).join("; "));
    this.code = error.code;
    this.hint = [...new Set(parts.map((part) => part.hint).filter(Boolean))].join(" ");
  }
}

const heard = { gone: () => {}, version: () => {} };

// Tell somebody when the server cannot be reached, and which version of the decision it speaks of.
export function listen(name, listener) {
  heard[name] = listener;
}

let asking = 0; // questions under way that may change what is decided

async function send(path, question, method = "POST") {
  let response;
  const beat = path === "/api/alive";
  if (!beat) asking += 1;
  try {
    response = await fetch(path, {
      method,
      body: JSON.stringify(question),
      headers: { "Content-Type": "application/json" },
    });
  } catch {
    heard.gone(true);
    throw new Refused({ code: "gone", message: "the explorer does not answer" });
  } finally {
    if (!beat) asking -= 1;
  }
  heard.gone(false);
  if (response.status === 403) {
    throw new Refused({ code: "strange", message: "this page does not belong to the explorer that runs now" });
  }
  const told = await response.json();
  if (beat && !asking) heard.version(told.version);
  if (told.error) throw new Refused(told.error);
  return told;
}

// The answer of a screen.
export const ask = async (screen, question = {}) => (await send(`/api/${screen}`, question)).answer;

// Changes of what is decided go one after another: a second press is a change of what the first one leads to,
// which `decided` learns before the second is sent. Where one is refused those behind it are left out: they
// were pressed on what did not come to be.
let before = Promise.resolve();
let waits = [];

export function change(screen, question, version, decided) {
  const mine = { left: false };
  waits.push(mine);
  const answer = before.then(async () => {
    if (mine.left) throw new Refused({ code: "left", message: "an earlier change was refused" });
    try {
      const told = await ask(screen, { ...question, version: version() });
      decided(told.summary);
      return told;
    } catch (problem) {
      for (const one of waits) one.left = true;
      throw problem;
    } finally {
      waits = waits.filter((one) => one !== mine);
    }
  });
  before = answer.catch(() => {});
  return answer;
}

// All changes that were pressed are answered.
export const settled = () => before;

export const tabs = () => send("/api/screens", {});

// A long question: `parts` hears what is known already, `progress` how far it is; `stop()` ends it.
export function work(screen, question, { parts = () => {}, progress = () => {} } = {}) {
  let stopped = false;
  let number = null;
  const answer = (async () => {
    let job = await send("/api/jobs", { ...question, screen });
    number = job.id;
    let since = 0;
    for (;;) {
      if (stopped) await send(`/api/jobs/${number}`, {}, "DELETE");
      job = await send(`/api/jobs/${number}`, { since });
      since = job.next;
      if (job.parts.length) parts(job.parts);
      progress(job);
      if (job.state === "failed") throw new Refused(job.error);
      if (job.state === "cancelled") return null;
      if (job.state === "done") return job.answer;
      await new Promise((wait) => setTimeout(wait, 150));
    }
  })();
  return { answer, stop: () => { stopped = true; } };
}

const page = crypto.getRandomValues(new Uint32Array(2)).join("-");
const EVERY = 5000;

// Say that this page is open, until it is closed.
export function stayAlive() {
  const say = () => send("/api/alive", { page }).catch(() => {});
  say();
  setInterval(say, EVERY);
  addEventListener("pageshow", say);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) say(); });
  addEventListener("pagehide", () => {
    const body = new Blob([JSON.stringify({ page })], { type: "application/json" });
    navigator.sendBeacon("/api/leave", body);
  });
}
