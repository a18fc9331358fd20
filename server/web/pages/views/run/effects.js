// @ts-check
// The effect of each knob on the time, and of pairs of knobs.
import { h } from "../../core/dom.js";
import { change, count, counted, percent, timeScale } from "../../core/format.js";
import { here } from "../../core/url.js";
import { choice } from "../../parts/filters.js";
import { panel } from "../../parts/panel.js";
import { empty } from "../../parts/states.js";
import { table } from "../../parts/table.js";
import { short, text } from "../../parts/text.js";
import { bar, leftOut } from "../../parts/values.js";
import { heatMap } from "../../charts/heat_map.js";
import { runPart } from "./request.js";

/** @typedef {import("api").Knobs} Knobs */
/** @typedef {import("api").Knob} Knob */

const HELP = "Share of the variance of log(time) that one knob alone explains, adjusted for its number of values.";

/** @param {Knob["values"][number]} value */
function valueText(value) {
  return value.text === null ? h("span", { class: "unknown" }, "not set") : text(value.text, { length: 60, code: true });
}

/**
 * Returns the value of the fastest config.
 * @param {Knob} knob
 */
function bestValue(knob) {
  let best = null;
  for (const value of knob.values) {
    if (value.best_ms !== null && (best === null || value.best_ms < (best.best_ms ?? Infinity))) best = value;
  }
  return best;
}

/**
 * Returns how much slower the fastest config with another value is.
 * @param {Knob} knob
 */
function otherwise(knob) {
  const times = knob.values.flatMap((value) => value.best_ms ?? []).sort((a, b) => a - b);
  return times.length < 2 ? "–" : change(times[1] / times[0]);
}

/**
 * @param {Knobs} data
 * @param {boolean} brief
 */
function effectTable(data, brief) {
  /** @type {import("../../parts/table.js").Column<Knob>[]} */
  const columns = [
    {
      title: "Knob",
      head: true,
      cell: (knob) =>
        h("a", { href: here({ tab: "knobs", knob: knob.name }) }, h("bdi", { class: "code" }, short(knob.name, 40))),
    },
    { title: "Explains", cell: (knob) => bar(knob.effect, percent(knob.effect)) },
    {
      title: "Best value",
      cell: (knob) => {
        const best = bestValue(knob);
        return best ? valueText(best) : "–";
      },
    },
    {
      title: "Next best value",
      number: true,
      cell: (knob) => otherwise(knob),
      note: "how much slower the fastest config with another value of the knob is",
    },
    { title: "Values", number: true, cell: (knob) => count(knob.values.length + knob.values_left_out) },
  ];
  return table({
    label: "Effect of each knob",
    rows: brief ? data.knobs.slice(0, 5) : data.knobs,
    columns: brief ? columns.slice(0, 4) : columns,
  });
}

/**
 * Returns the times of the selected knob's values.
 * @param {Knobs} data
 * @param {URLSearchParams} query
 */
function valueTable(data, query) {
  const knob = data.knobs.find((one) => one.name === query.get("knob")) ?? data.knobs[0];
  const scale = timeScale(knob.values.map((value) => value.best_ms));
  const slowest = Math.max(...knob.values.map((value) => value.median_ms ?? 0));
  return [
    h("h3", {}, "Values of ", h("bdi", { class: "code" }, short(knob.name, 60))),
    table({
      label: "Values of the knob",
      rows: knob.values,
      columns: [
        { title: "Value", head: true, cell: valueText },
        {
          title: `Median (${scale.unit})`,
          cell: (value) => bar(value.median_ms === null ? null : value.median_ms / slowest, scale.text(value.median_ms)),
        },
        {
          title: `Best (${scale.unit})`,
          number: true,
          cell: (value) => scale.text(value.best_ms),
        },
        { title: "Configs", number: true, cell: (value) => count(value.configs) },
        { title: "Failed", number: true, cell: (value) => count(value.failed) },
      ],
    }),
    leftOut(knob.values_left_out, "values"),
  ];
}

/** @param {Knobs} data */
function constants(data) {
  if (data.constant.length === 0) return null;
  return h(
    "details",
    {},
    h("summary", {}, `${counted(data.constant.length, "knob")} with the same value in all configs`),
    table({
      label: "Constant knobs",
      rows: data.constant,
      columns: [
        { title: "Knob", head: true, cell: (knob) => text(knob.name, { code: true }) },
        { title: "Value", cell: (knob) => text(knob.text, { code: true }) },
      ],
    }),
  );
}

/**
 * @param {import("../../core/page.js").Page} page
 * @param {boolean} brief only the most effective knobs
 */
export function effectsPanel(page, brief) {
  return panel(page, {
    title: brief ? "Which knobs matter" : "Effect of each knob",
    help: HELP,
    kind: brief ? "half" : "",
    csv: true,
    shows: ["knob"],
    request: (query) => runPart(page, "knobs", query),
    draw: (/** @type {Knobs} */ data, query) => {
      if (data.knobs.length === 0) {
        return [empty("No knob varies", "All measured configs have the same arguments, or none has a time."), constants(data)];
      }
      const note = `From ${count(data.configs)} measured configs${data.sampled ? ", a sample" : ""}.`;
      if (brief) {
        return [
          h("p", { class: "note" }, note, " ", h("a", { href: here({ tab: "knobs" }) }, "All knobs")),
          effectTable(data, true),
        ];
      }
      return [
        h("p", { class: "note" }, note),
        effectTable(data, false),
        leftOut(data.knobs_left_out, "knobs"),
        ...valueTable(data, query),
        constants(data),
      ];
    },
  });
}

/**
 * Returns the values of all pairs, in the order of the knobs' effects.
 * @param {Knobs} data
 * @param {"effect" | "interaction"} kind
 */
function matrixOf(data, kind) {
  const names = data.knobs.map((knob) => knob.name).filter((name) => data.pairs.some(({ a, b }) => a === name || b === name));
  const values = new Map(
    data.pairs.flatMap((pair) => [[`${pair.a}\0${pair.b}`, pair[kind]], [`${pair.b}\0${pair.a}`, pair[kind]]]),
  );
  const single = new Map(data.knobs.map((knob) => [knob.name, knob.effect]));
  return {
    names,
    cells: names.map((a) =>
      names.map((b) => (a === b ? (kind === "effect" ? single.get(a) ?? null : null) : values.get(`${a}\0${b}`) ?? null))
    ),
  };
}

/** @param {import("../../core/page.js").Page} page */
export function pairsPanel(page) {
  return panel(page, {
    title: "Pairs of knobs",
    help: "Effect: variance that both explain together. Interaction: beyond their sum; tune such knobs together.",
    shows: ["pairs"],
    request: (query) => runPart(page, "knobs", query),
    draw: (/** @type {Knobs} */ data, query) => {
      if (data.pairs.length === 0) return empty("No pairs to compare", "Two knobs with more than one value are needed.");
      const kind = query.get("pairs") === "interaction" ? "interaction" : "effect";
      const { names, cells } = matrixOf(data, kind);
      return [
        h(
          "div",
          { class: "controls" },
          choice("Show", "pairs", [{ label: "effect", filter: "effect" }, { label: "interaction", filter: "interaction" }], {
            any: null,
            initial: "effect",
          }),
        ),
        heatMap({
          label: `${kind} of pairs of knobs`,
          rows: names,
          columns: names,
          cell: (row, column) => cells[row][column],
          text: (value) => percent(value, 0),
          max: 1,
        }),
      ];
    },
  });
}
