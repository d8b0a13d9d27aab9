// Something is dragged onto something else by mouse, pen or finger. What can be dragged can be done by keyboard too.

const FAR = 6; // pixels after which a press is a drag

// Elements with `data-drag` inside `root` can be dropped onto those with `data-drop` where `fits(drag, drop)`.
export function draggable(root, fits, dropped) {
  root.addEventListener("pointerdown", (event) => {
    const from = event.target.closest?.("[data-drag]");
    if (!from || event.button !== 0 || event.target.closest("input, button, select")) return;
    const drag = from.dataset.drag;
    let onto = null, begun = false;
    const under = (at) => {
      const found = document.elementFromPoint(at.clientX, at.clientY)?.closest?.("[data-drop]");
      return found && root.contains(found) && fits(drag, found.dataset.drop) ? found : null;
    };
    const mark = (next) => {
      onto?.classList.remove("onto");
      onto = next;
      onto?.classList.add("onto");
    };
    const move = (at) => {
      if (!begun && Math.hypot(at.clientX - event.clientX, at.clientY - event.clientY) < FAR) return;
      begun = true;
      at.preventDefault();
      from.classList.add("dragged");
      getSelection()?.removeAllRanges();
      mark(under(at));
    };
    const end = (done) => {
      const drop = done && begun ? onto?.dataset.drop : undefined;
      mark(null);
      from.classList.remove("dragged");
      stop.abort();
      if (drop !== undefined) dropped(drag, drop);
    };
    const stop = new AbortController();
    const hear = (name, listener) => addEventListener(name, listener, { signal: stop.signal });
    hear("pointermove", move);
    hear("pointerup", () => end(true));
    hear("pointercancel", () => end(false));
    hear("keydown", (key) => { if (key.key === "Escape") end(false); });
  });
}
