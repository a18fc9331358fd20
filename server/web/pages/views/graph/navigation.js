// @ts-check
// Moves and zooms a drawing.

/** @typedef {import("./layout_worker.js").Rectangle} Rectangle */

// Smallest scale at which texts are readable.
const READABLE = 0.45;

/**
 * Moves and zooms a drawing with the mouse and the keyboard.
 * @param {SVGElement} root
 * @param {SVGElement} scene
 * @param {{width: number, height: number}} size
 */
export function navigation(root, scene, size) {
  const view = { x: 0, y: 0, scale: 1 };
  const apply = () => {
    scene.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    root.classList.toggle("far", view.scale < READABLE / 2);
  };
  const box = () => root.getBoundingClientRect();
  const zoom = (/** @type {number} */ factor, x = box().width / 2, y = box().height / 2) => {
    const scale = Math.max(0.05, Math.min(4, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    apply();
  };
  const fit = () => {
    const { width, height } = box();
    view.scale = Math.max(0.05, Math.min(1, (width - 24) / size.width, (height - 24) / size.height));
    view.x = (width - size.width * view.scale) / 2;
    view.y = Math.max(12, (height - size.height * view.scale) / 2);
    apply();
  };
  /** Shows all of a small graph, and the readable top of a large one. */
  const begin = () => {
    fit();
    if (view.scale >= READABLE) return;
    view.scale = READABLE;
    view.x = (box().width - size.width * READABLE) / 2;
    view.y = 12;
    apply();
  };
  const show = (/** @type {Rectangle} */ place) => {
    const { width, height } = box();
    view.scale = Math.max(view.scale, 2 * READABLE);
    view.x = width / 2 - (place.x + place.width / 2) * view.scale;
    view.y = height / 2 - (place.y + Math.min(place.height, 40) / 2) * view.scale;
    apply();
  };
  root.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), event.clientX - box().left, event.clientY - box().top);
  }, { passive: false });
  root.addEventListener("pointerdown", (down) => {
    const from = { x: down.clientX - view.x, y: down.clientY - view.y };
    const move = (/** @type {PointerEvent} */ event) => {
      if (
        !root.hasPointerCapture(down.pointerId) && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > 4
      ) root.setPointerCapture(down.pointerId);
      view.x = event.clientX - from.x;
      view.y = event.clientY - from.y;
      apply();
    };
    root.addEventListener("pointermove", move);
    root.addEventListener("pointerup", () => root.removeEventListener("pointermove", move), { once: true });
  });
  root.addEventListener("keydown", (event) => {
    const steps = /** @type {{[key: string]: [number, number]}} */ ({
      ArrowLeft: [60, 0],
      ArrowRight: [-60, 0],
      ArrowUp: [0, 60],
      ArrowDown: [0, -60],
    });
    if (steps[event.key]) {
      view.x += steps[event.key][0];
      view.y += steps[event.key][1];
      apply();
    } else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  return { begin, fit, show, zoom };
}
