// Elements and pictures. Text is always set as text, so a column called <img onerror=...> is a name and nothing else.

const SVG = "http://www.w3.org/2000/svg";

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") made[name] = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

// h("p", {class: "small"}, "26 people") makes an element; what is no element becomes text.
export function h(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

// The same for a picture.
export function svg(name, attributes, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

// Put new children into an element; what had the keyboard's focus has it again, by its data-key.
export function fill(parent, ...children) {
  const key = document.activeElement?.closest?.("[data-key]")?.dataset.key;
  const inside = key !== undefined && parent.contains(document.activeElement);
  parent.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (inside) parent.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}
