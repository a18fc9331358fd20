// @ts-check
// The history of a kernel at one cell of its matrix: best and default time of each attempt, with detected steps.
import { h } from "../core/dom.js";
import { time, timeScale, utc } from "../core/format.js";
import { href, query } from "../core/url.js";
import { padded } from "../charts/axes.js";
import { figure } from "../charts/figure.js";
import { legend, plot } from "../charts/plot.js";
import { attemptHref, runHref } from "../parts/links.js";
import { crumbs } from "../parts/crumbs.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { stepTable } from "../parts/steps.js";
import { short, shortId, text } from "../parts/text.js";
import { facts, leftOut, when } from "../parts/values.js";

/** @typedef {import("api").History} History */
/** @typedef {History["points"][number]} Point */

const KEY = ["kernel", "shapes", "dtypes", "hardware"];

/**
 * @param {Point[]} points
 * @param {"best_ms" | "default_ms"} field
 * @param {import("../core/format.js").TimeScale} scale
 * @param {{name: string, color: string}} look
 * @returns {import("../charts/plot.js").Series}
 */
function seriesOf(points, field, scale, look) {
  const known = points.filter((point) => point[field] !== null);
  return {
    ...look,
    kind: "line",
    xs: known.map((point) => point.time_unix_ms / 1000),
    ys: known.map((point) => /** @type {number} */ (point[field]) * scale.scale),
    hrefs: known.map((point) => runHref(point, { attempt: point.attempt_id })),
    notes: known.map((
      point,
    ) => [
      `${look.name}: ${scale.text(point[field])} ${scale.unit}`,
      utc(point.time_unix_ms),
      short(point.origin.label, 40),
      `version ${point.version?.slice(0, 8) ?? "not known"}`,
    ]),
  };
}

/** @type {import("../parts/table.js").Column<Point>[]} */
const COLUMNS = [
  { title: "When", head: true, cell: (point) => when(point.time_unix_ms) },
  { title: "Best", number: true, cell: (point) => time(point.best_ms) },
  { title: "Default", number: true, cell: (point) => time(point.default_ms) },
  { title: "Version", cell: (point) => shortId(point.version, "version") },
  { title: "Origin", cell: (point) => text(point.origin.label, { length: 40 }) },
  { title: "Attempt", cell: (point) => shortId(point.attempt_id, "attempt id", attemptHref(point.attempt_id)) },
];

/** @param {History} data */
function draw(data) {
  if (data.points.length === 0) return empty("No attempt here", "Choose a cell in the kernel's matrix.");
  const points = [...data.points].sort((a, b) => a.time_unix_ms - b.time_unix_ms);
  const scale = timeScale(points.flatMap((point) => [point.best_ms, point.default_ms]));
  /** @type {[number, number]} */
  const range = [points[0].time_unix_ms / 1000, points[points.length - 1].time_unix_ms / 1000];
  const chart = (/** @type {"best" | "default"} */ kind, /** @type {string} */ color, /** @type {number} */ height) => {
    const series = seriesOf(points, `${kind}_ms`, scale, { name: `${kind} config`, color });
    if (series.xs.length === 0) return null;
    const steps = data.steps.filter((step) => step.series === kind);
    return h(
      "div",
      {},
      legend([series]),
      plot({
        label: `Time of the ${kind} config in ${points.length} attempts`,
        height,
        x: { label: "time (UTC)", time: true, range: padded(...range, false) },
        y: { label: `${kind} (${scale.unit})` },
        marks: steps.map((step) => ({ at: step.time_unix_ms / 1000, color: step.ratio > 1 ? "--slow" : "--fast" })),
        series: [series],
      }),
    );
  };
  const charts = h("div", { class: "sub" }, chart("best", "--series-1", 260), chart("default", "--series-3", 180));
  return [
    figure(charts, { label: "Attempts", rows: points, columns: COLUMNS }),
    leftOut(data.points_left_out, "older attempts"),
    h("h3", {}, "Detected steps"),
    data.steps.length
      ? stepTable(data.steps, "Detected steps")
      : h("p", { class: "note" }, "None: the times stay within the noise of the attempts."),
    h("p", { class: "note" }, "Dashed lines are steps: red to slower, blue to faster. A click on a point opens its run."),
  ];
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  const values = query();
  page.title(`History of ${short(values.get("kernel"), 60)}`);
  const history = panel(page, {
    title: "Time of each attempt",
    csv: true,
    name: "history",
    request: (values) => ({ path: "/kernel/history", values: Object.fromEntries(KEY.map((name) => [name, values.get(name)])) }),
    draw,
  });
  page.root.append(
    crumbs([["/kernels", "Kernels"], [href("/kernel", { kernel: values.get("kernel") }), values.get("kernel")]]),
    h("h1", {}, "History"),
    facts([["Shapes", text(values.get("shapes"), { code: true })], ["Dtypes", text(values.get("dtypes"), { code: true })], [
      "Hardware",
      text(values.get("hardware")),
    ]]),
    history.element,
  );
}
