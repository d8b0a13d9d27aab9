// Pictures that several screens draw: bars in rows and lines, each with its numbers as text or as a table.

import { h, svg } from "./dom.mjs";
import { count, numberOf, percent } from "./words.mjs";

const WIDE = 300;

// People on a scale of powers of ten, so that one person is seen beside ten thousand.
const long = (people, most) => (people ? Math.max(3, (WIDE * Math.log10(1 + people)) / Math.log10(1 + most)) : 0);

// Rows of bars, each a button: what is now, above what the source table has. `over`: beyond a limit.
export function histogram(label, rows) {
  const most = Math.max(1, ...rows.flatMap((row) => [row.people, row.source]));
  return h("ul", { class: "bars", "aria-label": label }, rows.map((row) =>
    h("li", {}, h("button", {
      type: "button", class: row.over ? "bar over" : "bar", "data-key": row.key,
      "aria-pressed": String(Boolean(row.chosen)), onclick: row.onclick,
    },
    h("span", { class: "what" }, row.over ? `✖ ${row.label}` : row.label, row.over ? h("span", { class: "vh" }, `, ${row.over}`) : null, h("span", { class: "vh" }, ": ")),
    svg("svg", { viewBox: `0 0 ${WIDE} 22`, preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "now", x: 0, y: 1, height: 12, width: long(row.people, most) }),
      svg("rect", { class: "was", x: 0, y: 15, height: 6, width: long(row.source, most) })),
    h("span", { class: "n" }, count(row.people), h("span", { class: "vh" }, ` ${row.people === 1 ? "person" : "people"} in ${numberOf(row.groups, "group")}, `)),
    h("span", { class: "n small" }, count(row.source), h("span", { class: "vh" }, " in the source table"))))));
}

const LEFT = 52, TOP = 12, WIDTH = 560, HEIGHT = 220;

// Lines over 0, 1, 2, ...; `series` are {name, values, dashed}; a limit is drawn across, a point marked.
export function lines({ series, limit = null, at = null, across, up }) {
  const last = Math.max(1, ...series.map((one) => one.values.length - 1));
  const x = (place) => LEFT + (WIDTH * place) / last;
  const y = (share) => TOP + HEIGHT * (1 - share);
  const marks = [0, 0.25, 0.5, 0.75, 1].map((share) => [
    svg("line", { class: "grid", x1: LEFT, x2: LEFT + WIDTH, y1: y(share), y2: y(share) }),
    svg("text", { x: LEFT - 8, y: y(share) + 4, "text-anchor": "end" }, percent(share)),
  ]);
  const places = Array.from({ length: last + 1 }, (_, place) => place);
  return h("figure", {},
    svg("svg", { class: "lines", viewBox: `0 0 ${LEFT + WIDTH + 20} ${TOP + HEIGHT + 46}`, role: "img",
      "aria-label": `${up}, by ${across}. The table below has the numbers.` },
    marks.flat(),
    places.map((place) => svg("text", { x: x(place), y: TOP + HEIGHT + 18, "text-anchor": "middle" }, String(place))),
    svg("text", { x: LEFT + WIDTH / 2, y: TOP + HEIGHT + 40, "text-anchor": "middle" }, across),
    limit === null ? [] : [
      svg("line", { class: "limit", x1: LEFT, x2: LEFT + WIDTH, y1: y(limit), y2: y(limit) }),
      svg("text", { class: "limit", x: LEFT + WIDTH, y: y(limit) - 5, "text-anchor": "end" }, `limit ${percent(limit)}`),
    ],
    series.map((one) =>
      svg("polyline", { class: one.dashed ? "was" : "now", points: one.values.map((value, place) => `${x(place)},${y(value)}`).join(" ") })),
    at === null ? [] : series.slice(0, 1).map((one) =>
      svg("circle", { class: "now", cx: x(at), cy: y(one.values[Math.min(at, one.values.length - 1)]), r: 6 }))),
    h("figcaption", { class: "small" }, series.map((one) => `${one.dashed ? "dashed" : "solid"}: ${one.name}`).join("; ")),
    asTable(series, across));
}

function asTable(series, across) {
  const last = Math.max(...series.map((one) => one.values.length));
  return h("details", {}, h("summary", {}, "The numbers as a table"),
    h("div", { class: "wide" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, across), series.map((one) => h("th", { scope: "col", class: "n" }, one.name)))),
      h("tbody", {}, Array.from({ length: last }, (_, place) =>
        h("tr", {}, h("th", { scope: "row" }, String(place)),
          series.map((one) => h("td", { class: "n" }, percent(one.values[place])))))))));
}

// Bars beside one another, as wide as the number of values each stands for.
export function strip(parts, name, most) {
  const values = parts.reduce((sum, part) => sum + part.values, 0) || 1;
  let from = 0;
  return svg("svg", { class: "strip", viewBox: "0 0 320 64", preserveAspectRatio: "none", "aria-hidden": "true" },
    parts.map((part) => {
      const width = (320 * part.values) / values, high = (60 * part.people) / part.values / most;
      const made = svg("rect", { class: name, x: from + 0.4, y: 63 - high, width: Math.max(0.5, width - 0.8), height: Math.max(high, part.people ? 1 : 0) });
      from += width;
      return made;
    }));
}

// A number of a measure: short, and zero where it differs from it by rounding only.
export function short(value) {
  if (value === null || value === undefined) return "none";
  if (Math.abs(value) < 1e-12) return "0";
  return Math.abs(value) >= 1000 ? count(Math.round(value)) : String(Number(value.toPrecision(4)));
}

// A share that is told as an exact fraction, as a number.
export function share(text) {
  if (text === null || text === undefined) return null;
  const [above, below = "1"] = String(text).split("/");
  return Number(above) / Number(below);
}

// A long question: a button that asks it, how far it is, a button that ends it, and what came of it.
export function longQuestion(app, words, question, draw) {
  const box = h("div", { class: "long" });
  const idle = (...more) => box.replaceChildren(
    h("button", { type: "button", onclick: begin }, words), ...more.filter(Boolean));
  async function begin() {
    const said = h("p", { class: "small", role: "status" }, "Working …");
    const asked = app.work(typeof question === "function" ? question() : question, {
      progress: (job) => { said.textContent = job.total > 1 ? `${job.task}: ${count(job.done)} of ${count(job.total)}` : job.task || "Working …"; },
    });
    const stop = h("button", { type: "button", onclick: () => { asked.stop(); stop.disabled = true; } }, "Cancel");
    box.replaceChildren(said, stop);
    stop.focus();
    try {
      const answer = await asked.answer;
      idle(answer === null ? h("p", { class: "small" }, "Cancelled.") : draw(answer));
      app.say(answer === null ? "Cancelled." : "The answer is there.");
    } catch (problem) {
      idle();
      app.failed(problem);
    }
  }
  idle();
  return { box, begin };
}
