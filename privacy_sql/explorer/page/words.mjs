// Numbers as people read them, and exact comparison of exact values.

// A share in percent; never rounded to 0 or 100 unless it is.
export function percent(share) {
  if (share === null || share === undefined) return "not told";
  if (share > 0 && share < 0.001) return "under 0.1 %";
  if (share > 0.999 && share < 1) return "over 99.9 %";
  return `${(100 * share).toFixed(1).replace(/\.0$/, "")} %`;
}

export const count = (number) => Number(number).toLocaleString("en-US");

export const numberOf = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export const people = (number) => numberOf(number, "person", "people");

// People who are left out, and their rows where somebody may have several: run counts rows.
export const leftOut = (number, rows) => (rows === number ? people(number) : `${people(number)} (${numberOf(rows, "row")})`);

// Which columns count more than once in the detail that is kept.
export const weighed = (summary) => (summary.weighing ? ` (${summary.weighing})` : "");

// A value with its unit: people, values, a share, or nothing.
export function measured(value, unit) {
  if (value === null || value === undefined) return "without bound";
  if (unit === "share") return percent(value);
  const shown = Number.isInteger(value) ? count(value) : Number(value).toPrecision(4).replace(/\.?0+$/, "");
  if (unit === "people") return value === 1 ? "1 person" : `${shown} people`;
  if (unit === "households") return value === 1 ? "1 household" : `${shown} households`;
  if (unit === "values") return value === 1 ? "1 value" : `${shown} values`;
  return shown;
}

export const RELATIONS = { ">=": "at least", ">": "more than", "<=": "at most", "<": "below" };

// A number as an exact fraction: "2/3", "0.5", "12".
export function fraction(text) {
  const [above, below = "1"] = String(text).trim().split("/");
  const [whole, decimals = ""] = above.split(".");
  if (!/^[+-]?\d*$/.test(whole) || !/^\d*$/.test(decimals) || !/^\d+$/.test(below) || !(whole + decimals).match(/\d/)) {
    return null;
  }
  return [BigInt(whole + decimals), BigInt(below) * 10n ** BigInt(decimals.length)];
}

const TOLERANCE = 1e-9; // as in privacy_sql/verdict.py: a float this near to its limit is not safe

// Whether a value keeps to a limit, as privacy_sql/verdict.py decides it: exact values exactly.
export function holds(value, relation, limit) {
  const against = fraction(limit);
  if (!value || against === null) return false;
  if (value.exact === null) {
    if (value.float === null) return false;
    const stop = Number(against[0]) / Number(against[1]);
    if (Math.abs(value.float - stop) < TOLERANCE) return false;
    return compared(Math.sign(value.float - stop), relation);
  }
  const [above, below] = fraction(value.exact);
  const difference = above * against[1] - against[0] * below;
  return compared(difference === 0n ? 0 : difference > 0n ? 1 : -1, relation);
}

function compared(sign, relation) {
  return { ">=": sign >= 0, ">": sign > 0, "<=": sign <= 0, "<": sign < 0 }[relation] ?? false;
}
