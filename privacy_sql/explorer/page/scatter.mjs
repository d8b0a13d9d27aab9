// Choices as points of risk against detail, with a limit that can be dragged; and the price of that limit.

import { h, svg } from "./dom.mjs";
import * as limits from "./limits.mjs";
import { RELATIONS, measured, percent } from "./words.mjs";

const W = 420, H = 330, LEFT = 46, RIGHT = 14, TOP = 26, BOTTOM = 44;

const across = (scale, value) => LEFT + ((W - LEFT - RIGHT) * scale.position(value)) / scale.steps;
const up = (detail) => TOP + (H - TOP - BOTTOM) * (1 - detail);

// Risk grows to the right: a rail of sizes is read from large to small.
function turned(axis, summary) {
  const scale = limits.scale(axis, summary);
  if (!axis.slider.relation.startsWith(">")) return { scale, x: (value) => across(scale, value), back: (x) => place(scale, x) };
  const mirror = (x) => LEFT + (W - RIGHT) - x;
  return { scale, x: (value) => mirror(across(scale, value)), back: (x) => place(scale, mirror(x)) };
}

const place = (scale, x) => Math.round(Math.min(1, Math.max(0, (x - LEFT) / (W - LEFT - RIGHT))) * scale.steps);

function ticks(axis, { scale, x }) {
  const wanted = [0, 0.25, 0.5, 0.75, 1].map((share) => limits.number(scale.limit(Math.round(share * scale.steps))));
  return [...new Set(wanted)].map((value) => ({ x: x(value), words: measured(value, axis.unit).replace(/ (people|values|households)$/, "") }));
}

function frame(axis, geometry, label) {
  return [
    [0, 0.2, 0.4, 0.6, 0.8, 1].map((detail) => [
      svg("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: up(detail), y2: up(detail) }),
      svg("text", { class: "words", x: LEFT - 6, y: up(detail) + 4, "text-anchor": "end" }, `${Math.round(100 * detail)} %`)]),
    ticks(axis, geometry).map((tick) => svg("text", { class: "words", x: tick.x, y: H - BOTTOM + 17, "text-anchor": "middle" }, tick.words)),
    svg("text", { class: "words", x: (LEFT + W - RIGHT) / 2, y: H - 8, "text-anchor": "middle" }, label),
  ];
}

export function drawScatter({ asks, axis, told, judged, levelsIn, inWords, complete, keeps, move, take }) {
  const geometry = turned(axis, told.summary);
  const { scale, x } = geometry;
  const limit = limits.limitOf(asks, axis);
  const points = judged.map((one) => ({ ...one, at: [x(limits.worst(axis, one.choice)?.float ?? null), up(one.choice.detail)] }));
  const top = complete ? limits.finest(judged, levelsIn) : new Set();
  const path = (some, mark) => svg("path", { class: mark.name, d: some.map(({ at }) => mark.d(at[0], at[1])).join("") });
  const marks = {
    fails: { name: "mark fails", d: (a, b) => `M${a - 3} ${b - 3}l6 6m0 -6l-6 6` },
    safe: { name: "mark safe", d: (a, b) => `M${a - 4} ${b}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0` },
    finest: { name: "mark finest", d: (a, b) => `M${a} ${b - 6}l6 6l-6 6l-6 -6z` },
  };
  const now = [x(limits.worst(axis, told.now)?.float ?? null), up(told.now.detail)];
  const line = x(limits.number(limit));
  const over = axis.slider.relation.startsWith(">") || axis.slider.relation.startsWith("<") ? [line, W - RIGHT] : [line, line];
  const said = h("p", { class: "small point", "data-said": true }, `✖ not safe · ○ ${keeps} · ◆ ${keeps}, and no finer choice ${keeps === "safe" ? "is" : "does"} · ★ now`);
  const picture = svg("svg", {
    class: "scatter", viewBox: `0 0 ${W} ${H}`, role: "group",
    "aria-label": `Choices by risk (${axis.requirement}) and by the detail they keep; the safe ones are listed below`,
  },
  svg("rect", { class: "zone", x: over[0], y: TOP, width: Math.max(0, over[1] - over[0]), height: H - TOP - BOTTOM }),
  frame(axis, geometry, `${limits.titled(axis)} →`),
  path(points.filter((one) => !one.safe), marks.fails),
  path(points.filter((one) => one.safe && !top.has(one.choice)), marks.safe),
  path(points.filter((one) => top.has(one.choice)), marks.finest),
  svg("path", { class: "mark now", d: star(...now) }),
  svg("rect", { class: "pad", x: LEFT, y: TOP, width: W - LEFT - RIGHT, height: H - TOP - BOTTOM,
    onpointermove: (event) => { const one = nearest(event, points); if (one) said.textContent = about(one, inWords, axis, keeps); },
    onclick: (event) => { const one = nearest(event, points); if (one) take(one.choice); } }),
  svg("line", { class: "rule", x1: line, x2: line, y1: TOP - 4, y2: H - BOTTOM }),
  handle({ axis, scale, geometry, line, limit, move }));
  return [picture, said];
}

// The limit: dragged by a pointer, moved by arrow keys.
function handle({ axis, scale, geometry, line, limit, move }) {
  const drag = (event) => move(scale.limit(geometry.back(position(event, event.currentTarget.ownerSVGElement))));
  const key = (event) => {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    move(next(scale, limit, way));
  };
  return svg("circle", {
    class: "handle", cx: line, cy: TOP - 8, r: 8, tabindex: "0", role: "slider", "data-key": "handle",
    "aria-label": `Limit of ${axis.requirement}`, "aria-valuemin": 0, "aria-valuemax": scale.steps, "aria-valuenow": scale.place(limit),
    "aria-valuetext": scale.words(limit), onkeydown: key,
    onpointerdown: (event) => dragging(event, drag),
  });
}

// The next limit on a rail on which several places may mean the same one.
function next(scale, limit, way) {
  for (let at = scale.place(limit) + way; at >= 0 && at <= scale.steps; at += way) {
    if (scale.limit(at) !== limit) return scale.limit(at);
  }
  return limit;
}

// While a limit is dragged the picture is drawn anew, so the document is listened to and not the handle.
function dragging(event, drag) {
  event.preventDefault();
  const root = event.currentTarget.closest("section");
  const on = (moved) => {
    const picture = root.querySelector("svg.scatter");
    if (picture) drag({ clientX: moved.clientX, currentTarget: { ownerSVGElement: picture } });
  };
  const off = () => { removeEventListener("pointermove", on); removeEventListener("pointerup", off); };
  addEventListener("pointermove", on);
  addEventListener("pointerup", off);
}

function position(event, picture) {
  const box = picture.getBoundingClientRect();
  return ((event.clientX - box.left) * W) / box.width;
}

function nearest(event, points) {
  const picture = event.currentTarget.ownerSVGElement;
  const box = picture.getBoundingClientRect();
  const [a, b] = [((event.clientX - box.left) * W) / box.width, ((event.clientY - box.top) * H) / box.height];
  let found = null, best = 14 ** 2;
  for (const one of points) {
    const far = (one.at[0] - a) ** 2 + (one.at[1] - b) ** 2;
    if (far < best) [found, best] = [one, far];
  }
  return found;
}

const about = (one, inWords, axis, keeps) =>
  `${one.safe ? `○ ${keeps}` : "✖ not safe"}: ${inWords(one.choice)}; ${measured(limits.worst(axis, one.choice)?.float, axis.unit)}, keeps ${percent(one.choice.detail)}. Click takes it.`;

function star(a, b) {
  const tips = Array.from({ length: 10 }, (_, n) => {
    const [r, turn] = [n % 2 ? 4 : 10, (Math.PI * n) / 5 - Math.PI / 2];
    return `${(a + r * Math.cos(turn)).toFixed(1)} ${(b + r * Math.sin(turn)).toFixed(1)}`;
  });
  return `M${tips.join("L")}z`;
}

// The price of a limit: the most detail that can be kept, limit by limit, in a line and in words.
export function drawPrice({ asks, axis, told, choices, complete, running, move }) {
  const found = limits.price(asks, axis, choices);
  const geometry = turned(axis, told.summary);
  const { scale, x } = geometry;
  const limit = limits.limitOf(asks, axis);
  const bends = found.steps.map(({ value, detail }) => [x(value.float), up(detail)]);
  const far = W - RIGHT;
  const d = bends.length ? `M${LEFT} ${up(0)}H${bends[0][0]}${bends.map(([a, b], n) => `V${b}H${(bends[n + 1] ?? [far])[0]}`).join("")}` : "";
  const line = x(limits.number(limit));
  const words = priced(axis, found, limit, running);
  return [
    !found.exact ? null : svg("svg", { class: "price", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": words.join(" ") },
      frame(axis, geometry, `limit of ${limits.titled(axis)} →`),
      svg("path", { class: "curve", d }),
      svg("line", { class: "rule", x1: line, x2: line, y1: TOP, y2: H - BOTTOM })),
    h("p", { class: "small" }, found.exact ? "Most detail that can be kept, by this limit; the others stay. " : "", h("b", { class: "free" }, words[0]), ` ${words[1] ?? ""}`,
      complete ? "" : running ? " Choices are still being decided." : " Not all choices are known."),
    found.free !== null && found.free !== limit && stricter(axis, found.free, limit)
      ? h("button", { type: "button", "data-key": "free", onclick: () => move(found.free) }, `Set it to ${measured(limits.number(found.free), axis.unit)}`) : null,
  ];
}

const stricter = (axis, one, other) => (axis.slider.relation.startsWith(">") ? limits.number(one) > limits.number(other) : limits.number(one) < limits.number(other));

function priced(axis, { now, next, free, steps, exact }, limit, running) {
  const said = (value) => `${RELATIONS[axis.slider.relation]} ${measured(limits.number(value), axis.unit)}`;
  // a value keeps a limit that it equals, or only those beyond it
  const looser = (value) => (axis.slider.relation.endsWith("=") ? `A limit of ${value}` : `A limit looser than ${value}`);
  const more = next ? `${looser(measured(next.value.float, axis.unit))} would keep ${next.detail ? percent(next.detail) : "no detail"}.` : "A looser one buys nothing.";
  if (!steps.length) return [running ? "Being decided." : "No choice keeps the other requirements."];
  if (now === null) return [`No choice ${running ? "known so far " : ""}holds at this limit.`, more];
  if (!exact) {
    const told = free !== null && stricter(axis, free, limit) ? `The limit could be ${said(free)} for free.` : "No stricter limit is known to be free.";
    return [told, `This one keeps ${percent(now.detail)}. People may be left out, so what another limit costs is counted when you set it.`];
  }
  const cost = free !== null && stricter(axis, free, limit)
    ? `The limit could be ${said(free)} for free.` : "A stricter limit would cost detail.";
  return [cost, `This one keeps ${percent(now.detail)}. ${more}`];
}
