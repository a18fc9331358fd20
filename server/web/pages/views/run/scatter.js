// @ts-check
// One point for each config: any knob, or the compile time, against the time.
import { h } from "../../core/dom.js";
import { count, duration, timeScale } from "../../core/format.js";
import { jitter } from "../../charts/axes.js";
import { figure } from "../../charts/figure.js";
import { legend, plot } from "../../charts/plot.js";
import { choice, toggle } from "../../parts/filters.js";
import { configHref } from "../../parts/links.js";
import { panel } from "../../parts/panel.js";
import { empty } from "../../parts/states.js";
import { short, shortId } from "../../parts/text.js";
import { runOf, runPart } from "./request.js";

/** @typedef {import("api").Points} Points */
/** @typedef {import("../../core/format.js").TimeScale} TimeScale */
/** @typedef {{run_id: string, sender?: string | null}} RunKey */
/** @typedef {{config_id: string, x: number, x_text: string, ms: number, best: boolean}} Point */

const COMPILE = "compile time";
const MANY_CATEGORIES = 16;

/**
 * Returns the points that have a value on the x axis; `null` as the knob is the compile time.
 * @param {Points} data
 * @param {number | null} knob index
 * @param {boolean} numeric the values of the knob are the axis, not their order
 * @returns {Point[]}
 */
function pointsOf(data, knob, numeric) {
  const { points } = data;
  /** @type {Point[]} */
  const found = [];
  points.config_id.forEach((config_id, index) => {
    const ms = points.perf_ms[index];
    const value = knob === null ? null : points.values[knob][index];
    const compile = points.compile_ms[index];
    if (ms === null || (knob === null ? compile === null : value === null)) return;
    const one = knob === null ? null : data.knobs[knob].values[/** @type {number} */ (value)];
    const x = knob === null
      ? /** @type {number} */ (compile) / 1000
      : numeric
      ? /** @type {number} */ (one?.number)
      : /** @type {number} */ (value) + jitter(index);
    found.push({
      config_id,
      x,
      x_text: one ? short(one.text, 40) : duration(/** @type {number} */ (compile) / 1000),
      ms,
      best: found.length === 0,
    });
  });
  return found;
}

/**
 * @param {Point[]} points
 * @param {{name: string, color: string}} look
 * @param {string} x_name
 * @param {TimeScale} scale
 * @param {RunKey} run
 * @returns {import("../../charts/plot.js").Series}
 */
function seriesOf(points, look, x_name, scale, run) {
  const sorted = [...points].sort((a, b) => a.x - b.x);
  return {
    ...look,
    kind: "points",
    xs: sorted.map((point) => point.x),
    ys: sorted.map((point) => point.ms * scale.scale),
    hrefs: sorted.map((point) => configHref(run, point.config_id)),
    notes: sorted.map((
      point,
    ) => [`${scale.text(point.ms)} ${scale.unit}`, `${x_name}: ${point.x_text}`, `config ${point.config_id.slice(0, 8)}`]),
  };
}

/**
 * Returns the x axis for a knob, or for the compile time.
 * @param {Points["knobs"][number] | null} knob
 * @param {boolean} numeric
 * @returns {import("../../charts/plot.js").Axis}
 */
function axisOf(knob, numeric) {
  if (!knob) return { label: "compile time (s)" };
  const label = short(knob.name, 60);
  return numeric ? { label } : { label, categories: knob.values.map((value) => short(value.text, 12)) };
}

/** @param {Points} data @param {URLSearchParams} query @param {RunKey} run */
function draw(data, query, run) {
  const has_compile = data.points.compile_ms.some((ms) => ms !== null);
  const wanted = query.get("knob");
  const found = data.knobs.findIndex((knob) => knob.name === wanted);
  const index = found >= 0 ? found : wanted === COMPILE && has_compile ? null : data.knobs.length ? 0 : null;
  const knob = index === null ? null : data.knobs[index];
  const numeric = knob !== null && knob.type === "number" && knob.values.length > MANY_CATEGORIES;
  const points = pointsOf(data, index, numeric);
  const choices = data.knobs.map((one) => ({ label: one.name, filter: one.name }));
  if (has_compile) choices.push({ label: COMPILE, filter: COMPILE });
  const controls = h(
    "div",
    { class: "controls" },
    choice("Knob", "knob", choices, { any: null, initial: knob?.name ?? COMPILE, resets: [] }),
    toggle("linear scale", "linear"),
  );
  if (points.length === 0) return [controls, empty("No config to draw", "No config with a time has a value here.")];
  const scale = timeScale(points.map((point) => point.ms));
  const x_name = knob ? short(knob.name, 40) : COMPILE;
  const looks = [{ name: "configs", color: "--series-1" }, { name: "fastest config", color: "--series-2" }];
  const chart = plot({
    label: `Time of ${points.length} configs against ${x_name}`,
    height: 340,
    x: axisOf(knob, numeric),
    y: { label: `time (${scale.unit})`, log: query.get("linear") !== "1" },
    series: looks.map((look, number) =>
      seriesOf(points.filter((point) => point.best === (number === 1)), look, x_name, scale, run)
    ),
  });
  const note = data.sampled
    ? `The fastest tenth and a sample of the rest, of ${count(data.total)} configs. `
    : `${count(points.length)} of ${count(data.total)} configs have a time and a value. `;
  return [
    controls,
    figure(chart, {
      label: "Configs",
      rows: points.slice(0, 500),
      columns: [
        {
          title: "Config",
          head: true,
          cell: (point) => shortId(point.config_id, "config id", configHref(run, point.config_id)),
        },
        { title: x_name, cell: (point) => point.x_text },
        { title: `Time (${scale.unit})`, number: true, cell: (point) => scale.text(point.ms) },
      ],
    }, legend(looks)),
    h("p", { class: "note" }, note, "A click opens the config. Drag to zoom, double-click to reset."),
  ];
}

/** @param {import("../../core/page.js").Page} page */
export function configsPanel(page) {
  return panel(page, {
    title: "Time of each config",
    help: "Each point is a config. A knob matters where the points of one value lie lower.",
    csv: true,
    shows: ["knob", "linear"],
    request: (query) => runPart(page, "points", query),
    draw: (/** @type {Points} */ data, query) => draw(data, query, runOf(page, query)),
  });
}
