// @ts-check
// Distributions on one axis: quartiles, range and samples.
import { svg } from "../core/dom.js";

/** @typedef {{min: number, p25: number, median: number, p75: number, max: number}} Quartiles */

const WIDTH = 260;
const HEIGHT = 26;

/**
 * Returns the quartiles of samples.
 * @param {number[]} samples not empty
 * @returns {Quartiles}
 */
export function quartiles(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => {
    const place = share * (sorted.length - 1);
    const low = Math.floor(place);
    return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (place - low);
  };
  return { min: at(0), p25: at(0.25), median: at(0.5), p75: at(0.75), max: at(1) };
}

/**
 * Returns a box plot from `from` to `to`; the text names the same numbers.
 * @param {Quartiles} box
 * @param {number[]} samples
 * @param {{from: number, to: number, text: string}} axis
 */
export function boxPlot(box, samples, { from, to, text }) {
  const x = (/** @type {number} */ value) =>
    4 + ((Math.min(to, Math.max(from, value)) - from) / (to - from || 1)) * (WIDTH - 8);
  const middle = HEIGHT / 2;
  return svg(
    "svg",
    { class: "box-plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": text },
    svg("title", {}, text),
    svg("line", { class: "whisker", x1: x(box.min), x2: x(box.max), y1: middle, y2: middle }),
    samples.map((sample, index) =>
      svg("circle", { class: "sample", cx: x(sample), cy: middle + ((index % 7) - 3) * 2.4, r: 1.6 })
    ),
    svg("rect", { class: "box", x: x(box.p25), y: middle - 7, width: Math.max(1, x(box.p75) - x(box.p25)), height: 14 }),
    svg("line", { class: "median", x1: x(box.median), x2: x(box.median), y1: middle - 8, y2: middle + 8 }),
  );
}
