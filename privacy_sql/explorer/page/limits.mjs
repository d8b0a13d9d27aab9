// Choices compared with limits that are being moved. Values are those of the server, exact, and are compared as
// privacy_sql/verdict.py compares them; nothing here counts people or guesses.

import { RELATIONS, fraction, holds, measured } from "./words.mjs";

export function number(text) {
  const [above, below] = fraction(text);
  return Number(above) / Number(below);
}

// The limit of the moment: the one that is being moved, else the one that is required.
export const limitOf = ({ moved }, asked) => moved[asked.requirement] ?? asked.slider.limit;

// A verdict's name is its requirement, or that and the sensitive column it is about.
export const isAbout = (asked, name) => name === asked.requirement || name.startsWith(`${asked.requirement} for `);

const valuesOf = (asked, choice) => Object.entries(choice.values).filter(([name]) => isAbout(asked, name)).map(([, value]) => value);

export const undecided = (asked, choice) => choice.undecided.some((name) => isAbout(asked, name));

// A choice under the names that its requirements have now: a limit is part of the name, and changes no value.
export function renamed(choice, before, now) {
  const name = (old) => {
    const place = before.findIndex((one) => isAbout(one, old));
    return place < 0 ? old : now[place].requirement + old.slice(before[place].requirement.length);
  };
  return { ...choice, undecided: choice.undecided.map(name),
    values: Object.fromEntries(Object.entries(choice.values).map(([old, value]) => [name(old), value])) };
}

// A requirement in few words.
export const titled = (asked) => (asked.requirement.length > 32 ? asked.criterion.replaceAll("_", " ") : asked.requirement);

// The value of a requirement that is nearest to breaking it, where several columns have one each.
export function worst(asked, choice) {
  const found = valuesOf(asked, choice);
  const unbounded = found.find((value) => value.float === null);
  if (unbounded) return unbounded;
  const sign = found[0]?.relation.startsWith(">") ? 1 : -1;
  return found.sort((one, other) => sign * (one.float - other.float))[0];
}

// Whether a value follows from the limit alone: not where other people are left out at another limit.
const movable = (asks, asked) => asked.slider && asks.summary.allowed === "0";

export function holdsAt(asks, asked, choice) {
  const found = valuesOf(asked, choice);
  if (!found.length || undecided(asked, choice)) return false;
  const limit = movable(asks, asked) ? limitOf(asks, asked) : null;
  return found.every((value) => (limit === null ? value.safe : holds(value, value.relation, limit)));
}

export const safe = (asks, choice) => asks.summary.requirements.every((asked) => holdsAt(asks, asked, choice));

// The people of the smallest group, where a requirement counts them.
export function smallest(summary, choice) {
  const asked = summary.requirements.find((one) => one.criterion === "k_anonymity");
  return asked ? worst(asked, choice)?.float ?? null : null;
}

// What makes a failing choice safe: one column at another level, else the safe choice with the most detail.
export function help(asks, told, choices) {
  let one = null;
  for (const [column, steps] of Object.entries(told.steps)) {
    for (const choice of steps.filter(Boolean)) {
      const level = choice.levels[column];
      const step = told.summary.columns.find((each) => each.name === column).steps[level];
      if (step.allowed && safe(asks, choice) && (one === null || choice.detail > one.choice.detail)) one = { column, level, choice };
    }
  }
  const known = choices.filter((choice) => safe(asks, choice));
  const other = known.reduce((best, choice) => (best === null || choice.detail > best.detail ? choice : best), null);
  return { one, other };
}

// How a limit is moved: a place on a rail for every limit worth asking for, and its words.
export function scale(asked, summary) {
  const { unit, slider } = asked;
  if (slider.relation.startsWith(">")) {
    const most = Math.max(unit === "values" ? 20 : 1000, 2 * number(slider.limit));
    const steps = 200;
    const position = (value) => (value === null ? 0 : (steps * Math.log(Math.min(Math.max(value, 1), most))) / Math.log(most));
    return {
      steps, unit, position, allowed: "write a whole number, 1 or more",
      place: (limit) => Math.round(position(number(limit))),
      limit: (place) => String(Math.max(2, Math.round(most ** (place / steps)))),
      shown: (limit) => limit,
      words: (limit) => `${RELATIONS[slider.relation]} ${measured(number(limit), unit)}`,
      read: (text) => (/^\d+$/.test(text.trim()) && Number(text) >= 1 ? String(Number(text)) : null),
    };
  }
  const most = unit === "share" || slider.parameter === "t" ? 1 : Math.max(10, 2 * number(slider.limit));
  const least = slider.relation === "<=" && number(slider.limit) === 0 ? 0 : 1;
  const steps = most === 1 ? 100 : 200;
  const shares = unit === "share";
  return {
    steps, unit: shares ? "%" : "",
    allowed: `write a ${shares ? "percentage" : "number"} ${slider.relation === "<=" ? "of 0 or more" : "above 0"}${shares ? ", at most 100" : ", such as 0.3"}`,
    position: (value) => (value === null ? steps : (steps * Math.min(Math.max(value, 0), most)) / most),
    place: (limit) => Math.round((steps * Math.min(number(limit), most)) / most),
    limit: (place) => String(Math.max(least, place) * (most * 100 / steps) / 100),
    shown: (limit) => (shares ? shifted(decimal(limit), 2) : decimal(limit)),
    words: (limit) => `${RELATIONS[slider.relation]} ${measured(number(limit), unit)}`,
    read: (text) => {
      const plain = text.replace("%", "").trim();
      if (!/^\d+(\.\d+)?$/.test(plain)) return shares || fraction(plain) === null || number(plain) <= 0 ? null : plain;
      const found = shares ? shifted(plain, -2) : plain;
      return number(found) > 0 || slider.relation === "<=" ? found : null;
    },
  };
}

// "1/2" as "0.5" where it ends; else as it is.
function decimal(text) {
  if (!text.includes("/")) return text;
  const found = String(number(text));
  const [a, b] = fraction(text);
  const [c, d] = fraction(found) ?? [0n, 1n];
  return a * d === c * b ? found : text;
}

// The point of a decimal number moved: exact, which a product of floats is not.
export function shifted(text, places) {
  if (text.includes("/")) return String(number(text) * 10 ** places);
  let [whole, decimals = ""] = text.split(".");
  if (places > 0) {
    decimals = decimals.padEnd(places, "0");
    whole += decimals.slice(0, places);
    decimals = decimals.slice(places);
  } else {
    whole = whole.padStart(1 - places, "0");
    decimals = whole.slice(places) + decimals;
    whole = whole.slice(0, places);
  }
  whole = whole.replace(/^0+(?=\d)/, "") || "0";
  decimals = decimals.replace(/0+$/, "");
  return decimals ? `${whole}.${decimals}` : whole;
}

// Choices that are safe while no finer one is: `choices` by their levels, every choice of the lattice among them.
export function finest(judged, levelsIn) {
  const by = new Map(judged.map((one) => [levelsIn(one.choice).join(), one]));
  const below = new Map(); // whether a finer choice is safe
  const ordered = [...judged].sort((one, other) => sum(levelsIn(one.choice)) - sum(levelsIn(other.choice)));
  for (const one of ordered) {
    const levels = levelsIn(one.choice);
    below.set(levels.join(), levels.some((level, place) => {
      if (!level) return false;
      const finer = levels.with(place, level - 1).join();
      return below.get(finer) || by.get(finer)?.safe;
    }));
  }
  return new Set(judged.filter((one) => one.safe && !below.get(levelsIn(one.choice).join())).map((one) => one.choice));
}

const sum = (levels) => levels.reduce((all, level) => all + level, 0);

// The most detail that can be kept at every limit of one requirement, the others as they are: [value, detail]
// from the strictest on; and the limit that would cost nothing.
export function price(asks, axis, choices) {
  const others = asks.summary.requirements.filter((asked) => asked !== axis);
  const able = choices.filter((choice) => others.every((asked) => holdsAt(asks, asked, choice)) && !undecided(axis, choice))
    .map((choice) => ({ choice, value: worst(axis, choice) })).filter(({ value }) => value && value.float !== null);
  const sign = axis.slider.relation.startsWith(">") ? -1 : 1; // the strictest limit first
  able.sort((one, other) => sign * (one.value.float - other.value.float));
  const steps = [];
  let best = -1;
  for (const { choice, value } of able) {
    if (choice.detail > best + 1e-12) {
      best = choice.detail;
      steps.push({ value, detail: best, choice });
    }
  }
  const limit = limitOf(asks, axis);
  const kept = steps.filter(({ value }) => holds(value, axis.slider.relation, limit));
  const now = kept.at(-1) ?? null;
  const next = steps[kept.length] ?? null;
  // where people are left out a stricter limit leaves out the same only if groups are judged one by one
  const told = movable(asks, axis) || axis.slider.alone;
  return { steps, now, next, free: now && told ? strictest(axis, now.value) : null, exact: Boolean(movable(asks, axis)) };
}

// The strictest round limit that a value keeps.
export function strictest(axis, value) {
  const { relation } = axis.slider;
  if (relation.startsWith(">")) return String(Math.floor(value.float + 1e-9));
  const scaled = 100 * value.float;
  for (const whole of [Math.ceil(scaled - 1e-9), Math.ceil(scaled - 1e-9) + 1]) {
    const limit = shifted(String(whole), -2);
    if (holds(value, relation, limit)) return limit;
  }
  return null;
}
