// @ts-check
// Columns of tables of runs.
import { count, percent, time, times } from "../core/format.js";
import { h } from "../core/dom.js";
import { runHref } from "./links.js";
import { link, text } from "./text.js";
import { stateBadge, when } from "./values.js";

/** @typedef {import("api").RunRow} RunRow */

/** @type {import("./table.js").Column<RunRow>[]} */
export const RUN_COLUMNS = [
  {
    title: "Kernel",
    sort: "kernel",
    head: true,
    cell: (
      run,
    ) => [
      link(runHref(run), run.kernel.label ?? `run ${run.run_id.slice(0, 8)}`),
      " ",
      run.open_attempts ? stateBadge("open") : null,
    ],
  },
  {
    title: "Shapes",
    sort: "shapes",
    cell: (
      run,
    ) => [
      text(run.shapes.label, { length: 60, code: true }),
      h("span", { class: "sub-text" }, text(run.dtypes.label, { length: 60, code: true })),
    ],
  },
  { title: "Hardware", sort: "hardware", cell: (run) => text(run.hardware.label, { length: 32 }) },
  { title: "Best", sort: "best", number: true, cell: (run) => time(run.best_ms), note: "shortest time of all attempts" },
  {
    title: "Speed-up",
    sort: "speedup",
    down: true,
    number: true,
    cell: (run) => times(run.speedup),
    note: "time of the first config of the search, divided by the best time",
  },
  {
    title: "Spread",
    sort: "spread",
    down: true,
    number: true,
    narrow: true,
    cell: (run) => percent(run.spread),
    note: "range of the best times of the attempts, relative to the best",
  },
  {
    title: "Noise",
    sort: "noise",
    down: true,
    number: true,
    narrow: true,
    cell: (run) => percent(run.noise),
    note: "interquartile range of the samples of the best config, relative to the median",
  },
  { title: "Rows", note: "measurements", sort: "rows", down: true, number: true, cell: (run) => count(run.rows) },
  {
    title: "Failed",
    sort: "failed",
    down: true,
    number: true,
    cell: (run) => failedLink(run),
    note: "configs that failed, summed over the attempts",
  },
  { title: "Attempts", sort: "attempts", down: true, number: true, narrow: true, cell: (run) => count(run.attempts) },
  { title: "Tuner", narrow: true, cell: (run) => text(run.algorithm.label, { length: 32 }) },
  { title: "Received", sort: "last_received", down: true, cell: (run) => when(run.last_received_unix_ms) },
];

/** @param {RunRow} run */
function failedLink(run) {
  return run.failed ? h("a", { href: runHref(run, { tab: "failures" }) }, count(run.failed)) : "0";
}

/** Columns of a short list. */
export const NEWEST_COLUMNS = RUN_COLUMNS.filter((column) => !["Spread", "Noise", "Attempts"].includes(column.title))
  .map(({ sort: _, down: __, ...column }) => column);
