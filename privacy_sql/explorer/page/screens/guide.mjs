// Guide: seven questions, one at a time, that set the requirements. Where it is stands in the address; nothing
// is changed before the last button, so it can be left at any time.

import { fill, h } from "../dom.mjs";

let app, root, told, tried;

export async function show(into, given) {
  [app, root] = [given, into];
  await refresh();
}

export async function refresh() {
  told = await app.ask({}, "guide");
  app.decided(told.summary);
  const answers = given();
  try {
    tried = await app.ask({ action: "try", answers }, "guide");
  } catch (problem) {
    tried = null;
    app.failed(problem);
  }
  draw();
}

const number = () => Math.min(told.questions.length, Math.max(0, Number(app.parameters().q ?? 0) || 0));

// The answers in the address, of questions that there are.
function given() {
  const found = app.parameters();
  return Object.fromEntries(told.questions.filter((one) => found[one.name] !== undefined).map((one) => [one.name, found[one.name]]));
}

const go = (q, answers = given()) => app.go("guide", { ...answers, q });

function draw() {
  const at = number();
  fill(root,
    h("h2", { id: "screen-title" }, "Seven questions"),
    h("p", {}, "They set what must hold. Nothing is changed before the end; leave whenever you like. ",
      h("a", { href: "#decide" }, "Leave the questions")),
    h("div", { class: "pair" },
      at < told.questions.length ? drawQuestion(told.questions[at], at) : drawEnd(),
      h("aside", { class: "card", "aria-labelledby": "so-far" }, h("h3", { id: "so-far" }, "So far"),
        tried ? [h("p", {}, tried.adversary), drawRequirements()] : h("p", {}, "An answer in the address is none of these."))));
}

function drawRequirements() {
  return h("ul", {}, tried.requirements.length
    ? tried.requirements.map((one) => h("li", {}, h("b", {}, one.requirement), `: against ${one.against}`))
    : h("li", {}, "Nothing is required yet."));
}

function drawQuestion(one, at) {
  const answers = given();
  return h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); go(at + 1); } },
    h("fieldset", {},
      h("legend", {}, h("span", { class: "small" }, `Question ${at + 1} of ${told.questions.length} `), h("span", { class: "asked" }, one.question)),
      h("p", { class: "small" }, one.why),
      one.not_here ? h("p", {}, one.not_here) : one.answers.map((each) => h("p", {}, h("label", {},
        h("input", { type: "radio", name: one.name, value: each.answer, "data-key": `answer-${each.answer}`, checked: answers[one.name] === each.answer,
          onchange: () => app.go("guide", { ...answers, [one.name]: each.answer, q: at }, { quietly: true }) || retry() }), " ", each.words)))),
    h("p", {},
      at ? h("button", { type: "button", "data-key": "back", onclick: () => go(at - 1) }, "Back") : null, " ",
      h("button", { type: "submit", class: "first", "data-key": "next" }, at + 1 < told.questions.length ? "Next question" : "To the end")));
}

// What the answers come to, asked without moving.
async function retry() {
  try {
    tried = await app.ask({ action: "try", answers: given() }, "guide");
    draw();
  } catch (problem) {
    app.failed(problem);
  }
}

function drawEnd() {
  return h("section", { class: "card", "aria-labelledby": "end" },
    h("h3", { id: "end" }, "What will be required"),
    tried ? [drawRequirements(),
      tried.gone.length ? h("p", {}, `These are replaced: ${tried.gone.join(", ")}.`) : null,
      tried.kept.length ? h("p", {}, `These stay: ${tried.kept.join(", ")}.`) : null] : null,
    h("p", {},
      h("button", { type: "button", "data-key": "back", onclick: () => go(told.questions.length - 1) }, "Back"), " ",
      h("button", { type: "button", class: tried?.requirements.length ? "first" : "", "data-key": "set", disabled: !tried?.requirements.length, onclick: set }, "Set these requirements")));
}

async function set() {
  try {
    const answer = await app.change({ action: "take", answers: given() });
    app.decided(answer.summary);
    app.say("The requirements are set.");
    app.go("decide");
  } catch (problem) {
    app.failed(problem);
  }
}
