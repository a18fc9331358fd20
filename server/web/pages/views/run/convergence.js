// @ts-check
// The best time so far of each attempt, against configs or seconds.
import { h } from "../../core/dom.js";
import { count, duration, percent, timeScale } from "../../core/format.js";
import { figure } from "../../charts/figure.js";
import { legend, plot } from "../../charts/plot.js";
import { choice, toggle } from "../../parts/filters.js";
import { attemptHref } from "../../parts/links.js";
import { panel } from "../../parts/panel.js";
import { empty } from "../../parts/states.js";
import { short, shortId } from "../../parts/text.js";
import { cutNote, leftOut } from "../../parts/values.js";
import { runPart } from "./request.js";

/** @typedef {import("api").Convergence} Convergence */
/** @typedef {import("api").Series} Curve */

const COLORS = 8;

/**
 * @param {Curve} curve
 * @param {number} index
 * @param {boolean} in_seconds
 * @param {import("../../core/format.js").TimeScale} scale
 * @returns {import("../../charts/plot.js").Series}
 */
function seriesOf(curve, index, in_seconds, scale) {
  const xs = [...(in_seconds ? curve.seconds : curve.configs)];
  const best = [...curve.best_ms];
  const end = in_seconds ? curve.total_seconds : curve.total_configs;
  if (xs.length && end !== null && end > xs[xs.length - 1]) {
    xs.push(end);
    best.push(best[best.length - 1]);
  }
  const name = short(curve.label || curve.attempt_id.slice(0, 8), 40);
  const notes = xs.map((
    x,
    at,
  ) => [name, `${scale.text(best[at])} ${scale.unit}`, in_seconds ? `after ${duration(x)}` : `after ${count(x)} configs`]);
  const color = index < COLORS ? `--series-${index + 1}` : "--series-rest";
  return { name, kind: "steps", color, width: index < COLORS ? 2 : 1, xs, ys: best.map((ms) => ms * scale.scale), notes };
}

/**
 * Returns the part of the search after its last improvement.
 * @param {Curve} curve
 */
function afterLast(curve) {
  const last = curve.seconds.at(-1);
  if (last === undefined || !curve.total_seconds) return "–";
  return `${percent(1 - last / curve.total_seconds, 0)} (${duration(curve.total_seconds - last)})`;
}

/** @param {Convergence} data @param {import("../../core/format.js").TimeScale} scale */
function tableOf(data, scale) {
  /** @type {import("../../parts/table.js").Column<Curve>[]} */
  const columns = [
    { title: "Attempt", head: true, cell: (curve) => shortId(curve.attempt_id, "attempt id", attemptHref(curve.attempt_id)) },
    { title: `Best (${scale.unit})`, number: true, cell: (curve) => scale.text(curve.best_ms.at(-1)) },
    { title: "Configs", number: true, cell: (curve) => count(curve.total_configs) },
    { title: "Last improvement at config", number: true, cell: (curve) => count(curve.configs.at(-1)) },
    { title: "Search time", number: true, cell: (curve) => duration(curve.total_seconds) },
    { title: "After the last improvement", number: true, cell: afterLast },
  ];
  return { label: "Convergence of each attempt", columns, rows: data.series };
}

/** @param {import("../../core/page.js").Page} page */
export function convergencePanel(page) {
  return panel(page, {
    title: "Best time so far",
    help: "Where a curve is flat, the search found nothing better. The band is the noise floor around the best time.",
    csv: true,
    shows: ["x", "linear"],
    request: (query) => runPart(page, "convergence", query),
    draw: (/** @type {Convergence} */ data, query) => {
      const series = data.series.filter((curve) => curve.best_ms.length);
      if (series.length === 0) return empty("No config has a time yet", "The curve appears with the first measured config.");
      const in_seconds = query.get("x") === "seconds";
      const scale = timeScale(series.flatMap((curve) => curve.best_ms));
      const drawn = series.map((curve, index) => seriesOf(curve, index, in_seconds, scale));
      const best = Math.min(...series.map((curve) => curve.best_ms[curve.best_ms.length - 1])) * scale.scale;
      const chart = plot({
        label: `Best time so far of ${series.length} attempts against ${in_seconds ? "seconds" : "configs"}`,
        x: { label: in_seconds ? "search time (s)" : "configs measured" },
        y: { label: `best time (${scale.unit})`, log: query.get("linear") !== "1" },
        bands: data.noise ? [{ from: best, to: best * (1 + data.noise), color: "--band" }] : [],
        series: drawn,
      });
      const controls = h(
        "div",
        { class: "controls" },
        choice("Against", "x", [{ label: "configs", filter: "configs" }, { label: "seconds", filter: "seconds" }], {
          any: null,
          initial: "configs",
        }),
        toggle("linear scale", "linear"),
      );
      return [
        controls,
        figure(chart, tableOf({ ...data, series }, scale), series.length > 1 && series.length <= COLORS ? legend(drawn) : null),
        leftOut(data.attempts_left_out, "attempts"),
        cutNote(data.cut),
      ];
    },
  });
}
