// @ts-check
// The final measurements: which configs are faster, and which are tied within the noise.
import { h } from "../../core/dom.js";
import { count, timeScale } from "../../core/format.js";
import { boxPlot, quartiles } from "../../charts/box_plot.js";
import { attemptHref, configHref } from "../../parts/links.js";
import { panel } from "../../parts/panel.js";
import { empty } from "../../parts/states.js";
import { table } from "../../parts/table.js";
import { shortId, text } from "../../parts/text.js";
import { changeBadge, cutNote, leftOut } from "../../parts/values.js";
import { runOf, runPart } from "./request.js";

/** @typedef {import("api").Finals} Finals */
/** @typedef {import("api").FinalRow} FinalRow */

/** @param {FinalRow} row */
function boxOf(row) {
  if (row.samples_ms?.length) return quartiles(row.samples_ms);
  return row.quantiles;
}

/**
 * Returns a range that shows the quartiles of all rows, and not their slowest outliers.
 * @param {FinalRow[]} rows
 */
function rangeOf(rows) {
  const boxes = rows.map(boxOf).flatMap((box) => (box ? [box] : []));
  if (boxes.length === 0) return null;
  const from = Math.min(...boxes.map((box) => box.min));
  const to = Math.max(...boxes.map((box) => box.p75 + 1.5 * (box.p75 - box.p25)));
  return { from: from - (to - from) * 0.02, to };
}

/** @param {FinalRow} row @param {number} index */
function verdict(row, index) {
  if (index === 0) return h("span", { class: "badge state-complete" }, "fastest");
  if (row.tied === null) return h("span", { class: "unknown" }, "not known");
  return row.tied
    ? h("span", { class: "badge tied", title: "the difference to the fastest is within the noise" }, "tied")
    : "slower";
}

/** @param {import("../../core/page.js").Page} page */
export function finalsPanel(page) {
  return panel(page, {
    title: "Final measurements",
    help: "Box: middle half of the samples; line: median; dots: samples. Tied: no difference to the fastest beyond the noise.",
    csv: true,
    request: (query) => runPart(page, "finals", query),
    draw: (/** @type {Finals} */ data, query) => {
      if (data.items.length === 0) return empty("No config has a time", "The tab Failures tells why configs failed.");
      const run = runOf(page, query);
      const scale = timeScale(data.items.map((row) => row.perf_ms));
      const range = rangeOf(data.items);
      /** @type {import("../../parts/table.js").Column<FinalRow>[]} */
      const columns = [
        { title: "Config", head: true, cell: (row) => shortId(row.config_id, "config id", configHref(run, row.config_id)) },
        { title: `Time (${scale.unit})`, number: true, cell: (row) => scale.text(row.perf_ms) },
        {
          title: "To the fastest",
          number: true,
          cell: (row, index) => (index === 0 ? "–" : changeBadge(row.ratio, {
            low: row.ratio_low,
            high: row.ratio_high,
            significant: row.tied === null ? null : !row.tied,
          })),
        },
        { title: "Verdict", cell: verdict },
        {
          title: "Samples",
          cell: (row) => {
            const box = boxOf(row);
            if (!box || !range) return h("span", { class: "unknown" }, "not stored");
            const text = `median ${scale.text(box.median)} ${scale.unit}, middle half ${scale.text(box.p25)} to ${
              scale.text(box.p75)
            }, range ${scale.text(box.min)} to ${scale.text(box.max)}`;
            return boxPlot(box, row.samples_ms ?? [], { ...range, text });
          },
        },
        {
          title: "Count",
          number: true,
          cell: (row) => count(row.quantiles?.count ?? (row.samples_ms ? row.samples_ms.length + row.samples_left_out : null)),
        },
        {
          title: "Throttled",
          number: true,
          narrow: true,
          cell: (row) => count(row.throttled_samples),
          note: "samples during which the device lowered its clock",
        },
        { title: "Attempt", narrow: true, cell: (row) => shortId(row.attempt_id, "attempt id", attemptHref(row.attempt_id)) },
        { title: "Arguments", cell: (row) => text(row.config, { length: 70, code: true }) },
      ];
      const ties = data.items.filter((row) => row.tied).length;
      return [
        data.are_final
          ? null
          : h("p", { class: "banner" }, "No row is marked as final; these are the fastest rows of the search."),
        ties
          ? h(
            "p",
            {},
            `${count(ties)} ${
              ties === 1 ? "config is" : "configs are"
            } tied with the fastest within the noise: choose among them by other criteria.`,
          )
          : null,
        table({ label: "Final measurements", rows: data.items, columns, rowClass: (row) => (row.tied ? "tied-row" : null) }),
        leftOut(data.left_out, "rows"),
        cutNote(data.cut),
      ];
    },
  });
}
