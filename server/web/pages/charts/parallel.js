// @ts-check
// Parallel coordinates by ECharts, which is loaded when the first of these charts is drawn.
import { h } from "../core/dom.js";
import { color } from "../core/theme.js";
import { short } from "../parts/text.js";
import { tickText } from "./axes.js";

/**
 * @typedef {object} Dimension
 * @property {string} name
 * @property {string[] | null} categories null: numbers
 * @property {boolean} [log]
 */

/**
 * @typedef {object} ParallelOptions
 * @property {string} label
 * @property {Dimension[]} dimensions
 * @property {(number | null)[][]} rows a value for each dimension; of categories the index
 * @property {number} measure index of the dimension that colours the lines
 * @property {([number, number] | null)[]} brushes of each dimension
 * @property {(brushes: ([number, number] | null)[]) => void} brushed
 */

/** @param {Dimension} dimension @param {number} index */
function axisOf(dimension, index) {
  const text = { color: color("--ink-soft"), fontSize: 11, textBorderColor: color("--card"), textBorderWidth: 3 };
  const common = {
    dim: index,
    name: short(dimension.name, 18),
    nameTextStyle: { ...text, fontWeight: 600 },
    axisLabel: text,
    axisLine: { lineStyle: { color: color("--ink-soft") } },
  };
  if (dimension.categories) {
    const label = { ...text, formatter: (/** @type {string} */ value) => short(dimension.categories?.[Number(value)], 14) };
    return { ...common, type: "category", data: dimension.categories.map((_, at) => String(at)), axisLabel: label };
  }
  return { ...common, type: dimension.log ? "log" : "value", scale: true, axisLabel: { ...text, formatter: tickText } };
}

/** @param {ParallelOptions} options */
function chartOptions({ dimensions, rows, measure }) {
  const values = rows.map((row) => row[measure]).filter((value) => value !== null);
  return {
    animation: false,
    textStyle: { fontFamily: "system-ui, sans-serif" },
    parallel: {
      left: 64,
      right: 60,
      top: 44,
      bottom: 20,
      parallelAxisDefault: {
        realtime: false,
        areaSelectStyle: { width: 16, color: color("--series-2"), borderColor: color("--series-2"), opacity: 0.25 },
      },
    },
    parallelAxis: dimensions.map(axisOf),
    visualMap: {
      show: false,
      dimension: measure,
      min: Math.min(.../** @type {number[]} */ (values)),
      max: Math.max(.../** @type {number[]} */ (values)),
      inRange: { color: [color("--fast"), color("--middle"), color("--slow")] },
    },
    series: [{
      type: "parallel",
      data: rows.map((row) =>
        row.map((value, at) => (value === null ? "-" : dimensions[at].categories ? String(value) : value))
      ),
      lineStyle: { width: 1, opacity: rows.length > 500 ? 0.25 : 0.5 },
      inactiveOpacity: 0.03,
      activeOpacity: 0.8,
      progressive: 0,
      silent: true,
    }],
  };
}

/**
 * Reads the brushes from a chart; a brush of categories is a range of indexes.
 * @param {any} chart
 * @param {number} count
 * @returns {([number, number] | null)[]}
 */
function brushesOf(chart, count) {
  const axes = chart.getModel().findComponents({ mainType: "parallelAxis" });
  return Array.from({ length: count }, (_, index) => {
    const [first] = axes[index].activeIntervals;
    return first ? [Number(first[0]), Number(first[1])] : null;
  });
}

/**
 * Returns a chart whose axes can be brushed by the mouse.
 * @param {ParallelOptions} options
 */
export function parallel(options) {
  const box = h("div", { class: "parallel", tabindex: 0, role: "group", "aria-label": options.label });
  const inner = h("div", { class: "parallel-inner", role: "img", "aria-label": options.label });
  inner.style.minWidth = `${options.dimensions.length * 92}px`;
  box.append(inner);
  const draw = async () => {
    const { echarts } = await import("/assets/lib/echarts.js").then((library) => ({ echarts: library.aS }));
    if (!inner.isConnected) return;
    const chart = echarts.init(inner, null, { renderer: "canvas" });
    chart.setOption(chartOptions(options));
    options.brushes.forEach((brush, index) => {
      if (brush) {
        chart.dispatchAction({
          type: "axisAreaSelect",
          parallelAxisId: chart.getModel().findComponents({ mainType: "parallelAxis" })[index].id,
          intervals: [brush],
        });
      }
    });
    chart.on("axisareaselected", () => options.brushed(brushesOf(chart, options.dimensions.length)));
    new ResizeObserver(() => (inner.isConnected ? chart.resize() : chart.dispose())).observe(inner);
  };
  // The library is large: it is loaded when the chart comes into view.
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    void draw();
  }, { rootMargin: "200px" });
  seen.observe(box);
  return box;
}
