// @ts-check
// A chart with its table: the same data for keyboards and screen readers.
import { h } from "../core/dom.js";
import { table } from "../parts/table.js";

/**
 * @template R
 * @param {HTMLElement} chart
 * @param {{label: string, columns: import("../parts/table.js").Column<R>[], rows: R[]}} data
 * @param {HTMLElement | null} [legend]
 */
export function figure(chart, data, legend = null) {
  const details = h("details", { class: "figure-table" }, h("summary", {}, "Show as a table"));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(table(data));
  });
  return h("figure", { class: "figure" }, legend, chart, details);
}
