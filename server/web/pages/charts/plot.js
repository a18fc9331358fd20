// @ts-check
// Charts of series and points by uPlot, with labels, units, a tooltip, and a table for those who cannot see the chart.
import uPlot from "/assets/lib/uplot.js";
import { h } from "../core/dom.js";
import { color } from "../core/theme.js";
import { go } from "../core/url.js";
import { linearTicks, logTicks, padded, tickText } from "./axes.js";

/**
 * @typedef {object} Axis
 * @property {string} label with its unit
 * @property {boolean} [log]
 * @property {boolean} [time] values are seconds since 1970
 * @property {string[]} [categories] labels of the values 0, 1, ...
 * @property {[number, number]} [range]
 */

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {number[]} xs ascending
 * @property {(number | null)[]} ys
 * @property {string} color name of a colour of the theme
 * @property {"steps" | "line" | "points"} kind
 * @property {number} [width]
 * @property {string[]} [hrefs] address of each point
 * @property {string[][]} [notes] lines of the tooltip of each point
 */

/**
 * @typedef {object} PlotOptions
 * @property {string} label describes the chart
 * @property {Axis} x
 * @property {Axis} y
 * @property {Series[]} series
 * @property {{from: number, to: number, color: string}[]} [bands] horizontal
 * @property {{at: number, color: string}[]} [marks] vertical lines
 * @property {number} [height]
 */

/**
 * Returns points in time in UTC: days, or hours where the ticks are closer than a day.
 * @param {any} _plot
 * @param {number[]} seconds
 * @param {number} _axis
 * @param {number} _space
 * @param {number} step
 */
function days(_plot, seconds, _axis, _space, step) {
  return seconds.map((one) => {
    const text = new Date(one * 1000).toISOString();
    return step >= 86_400 ? text.slice(0, 10) : text.slice(5, 16).replace("T", " ");
  });
}

/** @param {Axis} axis */
function axisOptions(axis) {
  const ticks = (
    /** @type {any} */ _plot,
    /** @type {number} */ _index,
    /** @type {number} */ min,
    /** @type {number} */ max,
  ) => {
    if (axis.categories) return axis.categories.map((_, index) => index).filter((index) => index >= min && index <= max);
    return axis.log ? logTicks(min, max) : linearTicks(min, max);
  };
  const texts = (/** @type {any} */ _plot, /** @type {number[]} */ values) =>
    values.map((value) => (axis.categories ? axis.categories[value] ?? "" : tickText(value)));
  return {
    label: axis.label,
    labelFont: "12px system-ui, sans-serif",
    font: "11px system-ui, sans-serif",
    labelSize: 22,
    stroke: color("--ink-soft"),
    grid: { stroke: color("--grid"), width: 1, show: !axis.categories },
    ticks: { stroke: color("--grid"), width: 1, size: 5 },
    ...(axis.time
      ? { values: days, space: 90 }
      : { splits: ticks, values: texts, filter: (/** @type {any} */ _plot, /** @type {number[]} */ splits) => splits }),
  };
}

/** @param {Axis} axis */
function scaleOptions(axis) {
  const range = (/** @type {any} */ _plot, /** @type {number | null} */ min, /** @type {number | null} */ max) => {
    if (axis.range) return axis.range;
    if (axis.categories) return [-0.6, axis.categories.length - 0.4];
    return min === null || max === null ? [0, 1] : padded(min, max, axis.log ?? false);
  };
  return { time: axis.time ?? false, distr: axis.log ? 3 : 1, range };
}

/** @param {Series} series */
function seriesOptions(series) {
  const stroke = color(series.color);
  if (series.kind === "points") {
    return { label: series.name, stroke, paths: () => null, points: { show: true, size: 6, fill: stroke, stroke, width: 0 } };
  }
  const paths = series.kind === "steps" ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear();
  return {
    label: series.name,
    stroke,
    width: series.width ?? 1.5,
    paths,
    spanGaps: true,
    points: { show: series.kind === "line", size: 5, fill: stroke },
  };
}

/**
 * Draws bands behind the series and vertical marks.
 * @param {PlotOptions} options
 */
function decorations(options) {
  return (/** @type {any} */ plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    for (const band of options.bands ?? []) {
      const top = Math.max(bbox.top, plot.valToPos(band.to, "y", true));
      const bottom = Math.min(bbox.top + bbox.height, plot.valToPos(band.from, "y", true));
      ctx.fillStyle = color(band.color);
      ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
    }
    ctx.setLineDash([4, 4]);
    for (const mark of options.marks ?? []) {
      const x = plot.valToPos(mark.at, "x", true);
      ctx.strokeStyle = color(mark.color);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
}

/**
 * Finds the point next to the cursor, at most 30 pixels away.
 * @param {any} plot
 * @param {Series[]} series
 */
function nearest(plot, series) {
  const { left, top } = plot.cursor;
  if (left === undefined || left < 0) return null;
  let best = { distance: 900, series: -1, index: -1 };
  series.forEach((one, number) => {
    one.xs.forEach((x, index) => {
      const y = one.ys[index];
      if (y === null) return;
      const dx = plot.valToPos(x, "x") - left;
      const dy = plot.valToPos(y, "y") - top;
      const distance = dx * dx + dy * dy;
      if (distance < best.distance) best = { distance, series: number, index };
    });
  });
  return best.series < 0
    ? null
    : { ...best, x: series[best.series].xs[best.index], y: /** @type {number} */ (series[best.series].ys[best.index]) };
}

/**
 * Returns a plug-in with a tooltip beside the nearest point; a click follows the point's address.
 * @param {PlotOptions} options
 */
function tooltip(options) {
  const box = h("div", { class: "tooltip", hidden: true });
  const dot = h("div", { class: "tooltip-dot", hidden: true });
  /** @type {string | null} */
  let target = null;
  const hide = () => {
    box.hidden = dot.hidden = true;
    target = null;
  };
  const move = (/** @type {any} */ plot) => {
    const found = nearest(plot, options.series);
    if (!found) return hide();
    const series = options.series[found.series];
    const lines = series.notes?.[found.index] ?? [series.name, `${tickText(found.x)} · ${tickText(found.y)}`];
    box.replaceChildren(...lines.map((line) => h("div", {}, h("bdi", {}, line))));
    target = series.hrefs?.[found.index] ?? null;
    plot.over.classList.toggle("clickable", target !== null);
    const x = plot.valToPos(found.x, "x");
    const y = plot.valToPos(found.y, "y");
    box.hidden = dot.hidden = false;
    dot.style.transform = `translate(${x}px, ${y}px)`;
    const right = x > plot.over.clientWidth / 2;
    box.style.left = right ? "auto" : `${x + 12}px`;
    box.style.right = right ? `${plot.over.clientWidth - x + 12}px` : "auto";
    box.style.top = `${Math.max(0, Math.min(y - 10, plot.over.clientHeight - box.offsetHeight))}px`;
  };
  const ready = (/** @type {any} */ plot) => {
    plot.over.append(dot, box);
    plot.over.addEventListener("mouseleave", hide);
    plot.over.addEventListener("click", () => {
      if (target) go(target);
    });
  };
  return { hooks: { setCursor: move, ready } };
}

/**
 * Returns columns with one common x. Points may share their x; uPlot.join would keep one of them.
 * @param {Series[]} series
 */
function aligned(series) {
  if (!series.some((one) => one.kind === "points")) return uPlot.join(series.map((one) => [one.xs, one.ys]));
  const points = series.flatMap((one, number) => one.xs.map((x, index) => ({ x, y: one.ys[index], number })));
  points.sort((a, b) => a.x - b.x);
  return [
    points.map((point) => point.x),
    ...series.map((_, number) => points.map((point) => (point.number === number ? point.y : null))),
  ];
}

/**
 * Returns a chart. The element draws itself when it is in the page, and follows its width.
 * @param {PlotOptions} options
 * @returns {HTMLElement}
 */
export function plot(options) {
  const box = h("div", { class: "plot", role: "img", "aria-label": options.label });
  const height = options.height ?? 300;
  box.style.minHeight = `${height}px`;
  const data = aligned(options.series);
  /** @type {any} */
  let chart = null;
  const draw = (/** @type {number} */ width) => {
    if (chart) return chart.setSize({ width, height });
    chart = new uPlot(
      {
        width,
        height,
        legend: { show: false },
        tzDate: (/** @type {number} */ seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
        cursor: { points: { show: false }, drag: { x: true, y: true, uni: 30 } },
        scales: { x: scaleOptions(options.x), y: scaleOptions(options.y) },
        axes: [{ ...axisOptions(options.x), size: 32 }, { ...axisOptions(options.y), size: 62 }],
        series: [{}, ...options.series.map(seriesOptions)],
        hooks: { drawClear: [decorations(options)] },
        plugins: [tooltip(options)],
      },
      data,
      box,
    );
  };
  new ResizeObserver(([entry]) => {
    if (entry.contentRect.width > 0) draw(Math.floor(entry.contentRect.width));
  }).observe(box);
  return box;
}

/**
 * Returns a legend. A colour is never alone: the name stands beside it.
 * @param {{name: string, color: string}[]} series
 */
export function legend(series) {
  return h(
    "ul",
    { class: "legend" },
    series.map((one) => {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = `var(${one.color})`;
      return h("li", {}, swatch, h("bdi", {}, one.name));
    }),
  );
}
