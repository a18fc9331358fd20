// @ts-check
// A kernel: its matrix of shapes and devices, and its versions.
import { h } from "../core/dom.js";
import { bytes, count, time, times } from "../core/format.js";
import { href, query } from "../core/url.js";
import { choice } from "../parts/filters.js";
import { historyHref, runHref } from "../parts/links.js";
import { crumbs } from "../parts/crumbs.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";
import { short, shortId, text } from "../parts/text.js";
import { changeBadge, leftOut, when } from "../parts/values.js";

/** @typedef {import("api").Kernel} Kernel */
/** @typedef {Kernel["cells"][number]} Cell */

const MEASURES = [
  { label: "best time", filter: "best" },
  { label: "speed-up over the default", filter: "speedup" },
  { label: "newest step", filter: "step" },
];

/**
 * @param {Cell} cell
 * @param {Kernel} kernel
 * @param {string} measure
 */
function cellOf(cell, kernel, measure) {
  const key = { kernel: kernel.kernel, ...kernel.shapes[cell.shape], hardware: kernel.devices[cell.device] };
  const value = measure === "speedup" ? times(cell.speedup) : measure === "step" ? changeBadge(cell.step) : time(cell.best_ms);
  return h(
    "td",
    { class: "matrix-cell" },
    h("a", { class: "value", href: runHref(cell), title: `run ${cell.run_id.slice(0, 8)}` }, value),
    h(
      "span",
      { class: "sub-text" },
      measure === "step" ? null : [cell.step === null ? null : changeBadge(cell.step), " "],
      h("a", { href: historyHref(key) }, `${count(cell.attempts)} ${cell.attempts === 1 ? "attempt" : "attempts"}`),
    ),
  );
}

/** @param {Kernel} kernel @param {string} measure */
function matrix(kernel, measure) {
  const cells = new Map(kernel.cells.map((cell) => [`${cell.shape} ${cell.device}`, cell]));
  const rows = kernel.shapes.map((shape, row) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        text(shape.shapes.label, { length: 50, code: true }),
        h("span", { class: "sub-text" }, text(shape.dtypes.label, { length: 40, code: true })),
      ),
      kernel.devices.map((_, column) => {
        const cell = cells.get(`${row} ${column}`);
        return cell
          ? cellOf(cell, kernel, measure)
          : h("td", { class: "matrix-cell none" }, h("span", { class: "unknown" }, "–"));
      }),
    )
  );
  return h(
    "div",
    { class: "table-box", tabindex: 0, role: "group", "aria-label": "Shapes and devices" },
    h(
      "table",
      { class: "matrix" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Shapes"),
          kernel.devices.map((device) => h("th", { scope: "col" }, text(device.label, { length: 40 }))),
        ),
      ),
      h("tbody", {}, rows),
    ),
  );
}

/**
 * Returns links that compare devices, and versions, of the kernel.
 * @param {Kernel} kernel
 */
function comparisons(kernel) {
  const devices = kernel.devices.slice(0, 8).map((device) => `device:${device.filter}`);
  const versions = kernel.versions.slice(0, 2).map((version) => `version:${version.version}`).reverse();
  const link = (/** @type {string[]} */ item, /** @type {string} */ label) =>
    item.length >= 2
      ? h("a", { class: "button", href: href("/compare", { kernel: kernel.kernel.filter, item }) }, label)
      : null;
  return h(
    "div",
    { class: "table-foot" },
    link(devices, "Compare the devices"),
    link(versions, "Compare the two newest versions"),
  );
}

/** @param {Kernel} kernel */
function versions(kernel) {
  /** @type {import("../parts/table.js").Column<Kernel["versions"][number]>[]} */
  const columns = [
    {
      title: "Version",
      head: true,
      cell: (one) =>
        h(
          "a",
          { class: "code", href: href("/kernel/source", { kernel: kernel.kernel.filter, version: one.version }) },
          one.version.slice(0, 8),
        ),
    },
    { title: "Runs", number: true, cell: (one) => count(one.runs) },
    { title: "Lines", number: true, cell: (one) => count(one.source_lines) },
    { title: "Size", number: true, cell: (one) => bytes(one.source_bytes) },
    { title: "First received", cell: (one) => when(one.first_received_unix_ms) },
    { title: "Newest", cell: (one) => when(one.last_received_unix_ms) },
    { title: "Kernel id", cell: (one) => shortId(one.kernel_id, "kernel id") },
    {
      title: "Difference",
      cell: (one, index) => {
        const before = kernel.versions[index + 1];
        return before
          ? h("a", {
            href: href("/kernel/source", { kernel: kernel.kernel.filter, version: one.version, before: before.version }),
          }, "to the version before")
          : "";
      },
    },
  ];
  if (kernel.versions.length === 0) return h("p", { class: "note" }, "No source is stored; this tuner does not send it.");
  return table({ label: "Versions", rows: kernel.versions, columns });
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  page.title("Kernel");
  const name = h("bdi", {}, short(query().get("kernel"), 80));
  const kernel = panel(page, {
    title: "Shapes and devices",
    help: "Each cell: the best time of all its runs; the change of its newest detected step; and its history.",
    csv: true,
    name: "kernel-matrix",
    shows: ["show"],
    request: (values) => ({ path: "/kernel", values: { kernel: values.get("kernel") } }),
    loaded: (/** @type {Kernel} */ data) => {
      name.textContent = short(data.kernel.label, 120);
      page.title(short(data.kernel.label, 60));
    },
    draw: (data, values) =>
      data.cells.length === 0 ? empty("This kernel has no runs", "It may have been deleted.") : [
        h("div", { class: "controls" }, choice("Show", "show", MEASURES, { any: null, initial: "best" })),
        matrix(data, values.get("show") ?? "best"),
        leftOut(data.cells_left_out, "cells"),
        comparisons(data),
        h("h3", {}, "Versions of the source"),
        versions(data),
        leftOut(data.versions_left_out, "versions"),
      ],
  });
  page.root.append(
    crumbs([["/kernels", "Kernels"], [href("/runs", { kernel: query().get("kernel") }), "runs of this kernel"]]),
    h("h1", {}, name),
    kernel.element,
  );
}
