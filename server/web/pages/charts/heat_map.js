// @ts-check
// A table whose cells are coloured by their values.
import { h } from "../core/dom.js";
import { short } from "../parts/text.js";

/**
 * @typedef {object} HeatMapOptions
 * @property {string} label
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {(row: number, column: number) => number | null} cell
 * @property {(value: number) => string} text
 * @property {number} max value of the strongest colour
 */

/**
 * Returns a cell; its colour is mixed from two colours of the theme. With more than half of the strong one, text would be
 * hard to read in one of the themes.
 * @param {number | null} value
 * @param {HeatMapOptions} options
 */
function cellOf(value, { text, max }) {
  if (value === null) return h("td", { class: "heat none" }, "");
  const share = Math.max(0, Math.min(1, value / max));
  const cell = h("td", { class: "heat" }, text(value));
  cell.style.setProperty("--heat", `${Math.round(share * 50)}%`);
  return cell;
}

/** @param {HeatMapOptions} options */
export function heatMap(options) {
  const { label, rows, columns, cell } = options;
  const name = (/** @type {string} */ text) => h("bdi", { class: "code", title: short(text, 200) }, short(text, 22));
  return h(
    "div",
    { class: "table-box", tabindex: 0, role: "group", "aria-label": label },
    h(
      "table",
      { class: "heat-map" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td"),
          columns.map((column) => h("th", { scope: "col" }, h("span", { class: "upright" }, name(column)))),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row, r) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, name(row)),
            columns.map((_, c) => cellOf(cell(r, c), options)),
          )
        ),
      ),
    ),
  );
}
