// Somebody who also knows the insensitive columns: what they find, whether run refuses it for that, and the ways out.

import { h } from "./dom.mjs";
import { count, people, percent } from "./words.mjs";

export const listed = (columns) => (columns.length < 2 ? columns.join("") : `${columns.slice(0, -1).join(", ")} and ${columns.at(-1)}`);

// What they find, beside the best guess of everybody else.
export function drawKnown(known) {
  if (known?.alone === undefined) return null;
  const guess = known.guess === null ? "" : `right ${percent(known.guess)} of the time; `;
  return h("p", { class: "small" }, `${guess ? "Best guess, also" : "Also"} knowing ${listed(known.columns)}: ${guess}`
    + `${people(known.alone)} alone, ${count(known.below)} in groups of fewer than ${known.k}.`);
}

// Why run refuses the choice, and what can be decided about it. `decide` takes the role that all of them get.
export function drawRefusal(known, decide) {
  if (!known?.refusal) return null;
  const button = (role, words) => h("button", { type: "button", "data-key": `insensitive-${role}`, onclick: () => decide(role) }, words);
  const names = listed(known.columns);
  const single = known.refusal.code === "known_columns_single_out";
  return h("div", { class: "help" },
    h("p", {}, `${single ? "Run would publish nothing: " : ""}${known.refusal.message}. `,
      single && known.can_edit ? `Ask every requirement of somebody who knows ${names} too, leave ${names} out, or write the reason why it may be so in privacy.yml: `
        + `insensitive: {columns: [${known.columns.join(", ")}], acknowledge: "the reason"}.` : known.refusal.hint),
    single && known.can_edit ? h("p", { class: "buttons" }, button("known", "Somebody may know it"), button("drop", `Leave ${names} out`)) : null);
}
