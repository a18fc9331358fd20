// @ts-check
// Attempts per day as bars.
import { h, svg } from "../../core/dom.js";
import { count } from "../../core/format.js";
import { figure } from "../../charts/figure.js";
import { linearTicks } from "../../charts/axes.js";

/** @typedef {import("api").Overview["activity"][number]} Day */

const WIDTH = 600;
const HEIGHT = 180;
const LEFT = 44;
const BOTTOM = 24;

/**
 * @param {Day[]} days
 * @param {number} top
 */
function bars(days, top) {
  const step = (WIDTH - LEFT) / Math.max(1, days.length);
  const y = (/** @type {number} */ value) => (HEIGHT - BOTTOM) * (1 - value / top) + 4;
  return days.map((day, index) =>
    svg(
      "g",
      {},
      svg(
        "title",
        {},
        `${day.day}: ${count(day.attempts)} attempts, ${count(day.rows)} measurements, ${count(day.failed)} failed`,
      ),
      svg("rect", { class: "bar-area", x: LEFT + index * step, y: 0, width: step, height: HEIGHT - BOTTOM }),
      svg("rect", {
        class: "bar-value",
        x: LEFT + index * step + 1.5,
        y: y(day.attempts),
        width: Math.max(1, step - 3),
        height: y(0) - y(day.attempts),
        rx: 1.5,
      }),
      index % 7 === days.length % 7 || days.length < 8
        ? svg(
          "text",
          { class: "axis-text", x: LEFT + (index + 0.5) * step, y: HEIGHT - 6, "text-anchor": "middle" },
          day.day.slice(5),
        )
        : null,
    )
  );
}

/** @param {Day[]} days */
export function activityChart(days) {
  const top = Math.max(1, ...days.map((day) => day.attempts)) * 1.05;
  const lines = linearTicks(0, top, 4).filter(Number.isInteger).map((tick) => {
    const y = (HEIGHT - BOTTOM) * (1 - tick / top) + 4;
    return svg(
      "g",
      {},
      svg("line", { class: "axis-line", x1: LEFT, x2: WIDTH, y1: y, y2: y }),
      svg("text", { class: "axis-text", x: LEFT - 6, y: y + 4, "text-anchor": "end" }, count(tick)),
    );
  });
  const label = `Attempts per day, ${days.length} days in UTC`;
  const chart = svg(
    "svg",
    { class: "bars", viewBox: `0 0 ${WIDTH} ${HEIGHT + 4}`, role: "img", "aria-label": label },
    lines,
    bars(days, top),
  );
  const box = h("div", {}, chart);
  return figure(box, {
    label,
    rows: days,
    columns: [
      { title: "Day", head: true, cell: (day) => day.day },
      { title: "Attempts", number: true, cell: (day) => count(day.attempts) },
      { title: "Measurements", number: true, cell: (day) => count(day.rows) },
      { title: "Failed", number: true, cell: (day) => count(day.failed) },
    ],
  });
}
