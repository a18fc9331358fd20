// @ts-check
// Detected steps of times, as a table.
import { h } from "../core/dom.js";
import { time } from "../core/format.js";
import { href } from "../core/url.js";
import { historyHref, kernelHref, runHref } from "./links.js";
import { table } from "./table.js";
import { link, text } from "./text.js";
import { changeBadge, when } from "./values.js";

/** @typedef {import("api").Step} Step */

/** @param {Step} step */
function versions(step) {
  if (!step.version_before || !step.version_after) return "not known";
  if (step.version_before === step.version_after) return "unchanged";
  const target = href("/kernel/source", {
    kernel: step.kernel.filter,
    version: step.version_after,
    before: step.version_before,
  });
  return h("a", { href: target }, "changed");
}

/** @type {import("./table.js").Column<Step>[]} */
export const STEP_COLUMNS = [
  { title: "When", cell: (step) => when(step.time_unix_ms) },
  { title: "Kernel", head: true, cell: (step) => link(kernelHref(step.kernel), step.kernel.label) },
  { title: "Shapes", cell: (step) => text(step.shapes.label, { length: 40, code: true }) },
  { title: "Dtypes", narrow: true, cell: (step) => text(step.dtypes.label, { length: 24, code: true }) },
  { title: "Hardware", cell: (step) => text(step.hardware.label, { length: 32 }) },
  {
    title: "Config",
    cell: (step) => step.series,
    note: "best: the fastest config of each search; default: its first config",
  },
  { title: "Before", number: true, cell: (step) => time(step.before_ms), note: "median of the attempts before the step" },
  { title: "After", number: true, cell: (step) => time(step.after_ms), note: "median of the attempts after the step" },
  { title: "Change", number: true, cell: (step) => changeBadge(step.ratio, step) },
  { title: "Source", cell: versions, note: "source text of the kernel" },
  {
    title: "Details",
    cell: (step) => [
      h("a", { href: historyHref(step) }, "history"),
      " · ",
      h("a", { href: runHref(step) }, "run"),
      " · ",
      h(
        "a",
        {
          href: href("/compare", { item: [`attempt:${step.before_attempt_id}`, `attempt:${step.attempt_id}`] }),
          title: "compare the last attempt before the step with the first one after it",
        },
        "compare",
      ),
    ],
  },
];

/**
 * @param {Step[]} steps
 * @param {string} label
 */
export function stepTable(steps, label) {
  return table({ label, rows: steps, columns: STEP_COLUMNS });
}
