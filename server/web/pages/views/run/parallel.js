// @ts-check
// Parallel coordinates of knobs and time. Brushes stand in the URL as `brush=NAME~FROM~TO`.
import { h } from "../../core/dom.js";
import { count, significant, timeScale } from "../../core/format.js";
import { change } from "../../core/url.js";
import { parallel } from "../../charts/parallel.js";
import { configHref } from "../../parts/links.js";
import { panel } from "../../parts/panel.js";
import { empty } from "../../parts/states.js";
import { table } from "../../parts/table.js";
import { short, shortId } from "../../parts/text.js";
import { runOf, runPart } from "./request.js";

/** @typedef {import("api").Points} Points */
/** @typedef {[number, number] | null} Brush */

const AXES = 8;
const TIME = "time";
const LISTED = 20;

/**
 * @param {URLSearchParams} query
 * @param {string[]} names
 * @returns {Brush[]}
 */
function brushesOf(query, names) {
  const found = new Map(
    query.getAll("brush").map((text) => {
      const [to, from, ...name] = text.split("~").reverse();
      return [name.reverse().join("~"), /** @type {[number, number]} */ ([Number(from), Number(to)])];
    }),
  );
  return names.map((name) => found.get(name) ?? null);
}

/** @param {Brush[]} brushes @param {string[]} names */
function setBrushes(brushes, names) {
  change({
    brush: brushes.flatMap((
      brush,
      index,
    ) => (brush ? [`${names[index]}~${Number(brush[0].toPrecision(6))}~${Number(brush[1].toPrecision(6))}`] : [])),
  }, { replace: true });
}

/**
 * Returns the controls for keyboards: one value of one knob, and the brushes as buttons that remove them.
 * @param {Points["knobs"]} knobs
 * @param {string[]} names
 * @param {Brush[]} brushes
 * @param {string} unit
 */
function controls(knobs, names, brushes, unit) {
  const knob = h(
    "select",
    { "aria-label": "Knob to brush" },
    knobs.map((one, index) => h("option", { value: index }, short(one.name, 40))),
  );
  const value = h("select", { "aria-label": "Value to brush" });
  const fill = () =>
    value.replaceChildren(
      ...knobs[Number(knob.value)].values.map((one, index) => h("option", { value: index }, short(one.text, 40))),
    );
  knob.addEventListener("change", fill);
  fill();
  const add = () =>
    setBrushes(
      brushes.map((brush, index) => (index === Number(knob.value) ? [Number(value.value), Number(value.value)] : brush)),
      names,
    );
  const chips = brushes.flatMap((brush, index) => {
    if (!brush) return [];
    const [from, to] = index < knobs.length
      ? brush.map((at, end) => short(knobs[index].values[end ? Math.floor(at + 0.5) : Math.ceil(at - 0.5)]?.text, 16))
      : brush.map((at) => `${significant(at)} ${unit}`);
    const remove = () => setBrushes(brushes.map((one, at) => (at === index ? null : one)), names);
    return [
      h(
        "button",
        { type: "button", class: "chip", onclick: remove, title: "Remove this brush" },
        h("bdi", {}, `${short(names[index], 24)}: ${from === to ? from : `${from} … ${to}`}`),
        " ✕",
      ),
    ];
  });
  return h(
    "div",
    { class: "controls" },
    knob,
    value,
    h("button", { type: "button", onclick: add, "data-focus": "brush" }, "Brush"),
    chips,
  );
}

/**
 * Returns the lines within all brushes.
 * @param {(number | null)[][]} rows
 * @param {Brush[]} brushes
 */
function within(rows, brushes) {
  return rows.flatMap((row, index) => (brushes.every((brush, at) => {
      const value = row[at];
      return !brush || (value !== null && value >= brush[0] - 1e-9 && value <= brush[1] + 1e-9);
    })
    ? [index]
    : [])
  );
}

/** @param {Points} data @param {URLSearchParams} query @param {{run_id: string, sender?: string | null}} run */
function draw(data, query, run) {
  const measured = data.points.perf_ms.flatMap((ms, index) => (ms === null ? [] : [index]));
  if (measured.length === 0 || data.knobs.length === 0) {
    return empty("Nothing to draw", "Configs with a time and knobs with several values are needed.");
  }
  const knobs = data.knobs.slice(0, AXES);
  const names = [...knobs.map((knob) => knob.name), TIME];
  const scale = timeScale(data.points.perf_ms);
  const rows = measured.map((
    index,
  ) => [
    ...knobs.map((_, knob) => data.points.values[knob][index]),
    /** @type {number} */ (data.points.perf_ms[index]) * scale.scale,
  ]);
  const brushes = brushesOf(query, names);
  const chart = parallel({
    label: `Parallel coordinates of ${rows.length} configs: ${knobs.length} knobs and the time`,
    dimensions: [...knobs.map((knob) => ({ name: knob.name, categories: knob.values.map((value) => value.text) })), {
      name: `time (${scale.unit})`,
      categories: null,
      log: true,
    }],
    rows,
    measure: knobs.length,
    brushes,
    brushed: (changed) => setBrushes(changed, names),
  });
  const chosen = within(rows, brushes);
  return [
    controls(knobs, names, brushes, scale.unit),
    chart,
    h(
      "p",
      { role: "status" },
      `${count(chosen.length)} of ${count(rows.length)} configs within the brushes${
        chosen.length > LISTED ? `; the fastest ${LISTED}:` : ":"
      }`,
    ),
    table({
      label: "Configs within the brushes",
      rows: chosen.slice(0, LISTED),
      columns: [
        {
          title: "Config",
          head: true,
          cell: (row) =>
            shortId(data.points.config_id[measured[row]], "config id", configHref(run, data.points.config_id[measured[row]])),
        },
        { title: `Time (${scale.unit})`, number: true, cell: (row) => scale.text(data.points.perf_ms[measured[row]]) },
        ...knobs.map((knob, at) => ({
          title: short(knob.name, 24),
          cell: (/** @type {number} */ row) => {
            const value = rows[row][at];
            return value === null ? "–" : h("bdi", { class: "code" }, short(knob.values[value]?.text, 24));
          },
        })),
      ],
    }),
  ];
}

/** @param {import("../../core/page.js").Page} page */
export function parallelPanel(page) {
  return panel(page, {
    title: "Parallel coordinates",
    help: "Each line is a config, from fast (blue) to slow (red). Drag along an axis to brush it, or choose a value below.",
    csv: true,
    shows: ["brush"],
    request: (query) => runPart(page, "points", query),
    draw: (/** @type {Points} */ data, query) => draw(data, query, runOf(page, query)),
  });
}
