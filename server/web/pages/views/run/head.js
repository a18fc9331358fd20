// @ts-check
// What a run is, and its most important numbers.
import { h } from "../../core/dom.js";
import { count, duration, percent, time, times } from "../../core/format.js";
import { change, href } from "../../core/url.js";
import { historyHref, kernelHref, senderOf } from "../../parts/links.js";
import { panel } from "../../parts/panel.js";
import { link, short, shortId, text } from "../../parts/text.js";
import { facts, stateBadge, tiles, when } from "../../parts/values.js";

/** @typedef {import("api").Run} Run */

/**
 * Returns the part of the search after the last improvement, summed over the attempts.
 * @param {Run} run
 */
function wasted(run) {
  let total = 0;
  let late = 0;
  for (const { duration_s, last_improvement_s } of run.attempt_list) {
    if (duration_s === null || last_improvement_s === null) continue;
    total += duration_s;
    late += Math.max(0, duration_s - last_improvement_s);
  }
  return total > 0 ? { share: late / total, seconds: late } : null;
}

/** @param {Run} run */
function numbers(run) {
  const waste = wasted(run);
  const configs = run.configs + run.failed;
  return tiles([
    ["Best time", time(run.best_ms), "shortest of all attempts"],
    ["Speed-up", times(run.speedup), `over ${time(run.default_ms)}, the first config of the search`],
    ["Noise floor", percent(run.noise), "interquartile range of the best config's samples"],
    ["Spread", percent(run.spread), "range of the best times of the attempts"],
    [
      "After the last improvement",
      waste ? percent(waste.share, 0) : "–",
      waste ? `${duration(waste.seconds)} of the search changed nothing` : "no times of rows",
    ],
    [
      "Failed configs",
      h(
        "a",
        { href: href(location.pathname, { ...senderOf(new URLSearchParams(location.search)), tab: "failures" }) },
        count(run.failed),
      ),
      configs ? `${percent(run.failed / configs, 0)} of ${count(configs)}` : "",
    ],
  ]);
}

/**
 * Returns the address of the list of all runs of this kernel with the same shapes, dtypes and hardware.
 * @param {Run} run
 */
function sameInput({ kernel, shapes, dtypes, hardware }) {
  return href("/runs", {
    kernel: kernel.filter,
    shapes: shapes.filter,
    dtypes: dtypes.filter,
    hardware: hardware.filter,
  });
}

/** @param {Run} run */
function identity(run) {
  const graphs = run.graphs.map((kind) =>
    h(
      "a",
      { href: href(`/run/${run.run_id}/graph`, { ...senderOf(new URLSearchParams(location.search)), kind }) },
      short(kind, 20),
    )
  );
  const source = run.version
    ? h("a", { href: href("/kernel/source", { kernel: run.kernel.filter, version: run.version }) }, run.version.slice(0, 8))
    : "–";
  return facts([
    ["Kernel", link(kernelHref(run.kernel), run.kernel.label)],
    ["Shapes", text(run.shapes.label, { code: true })],
    ["Dtypes", text(run.dtypes.label, { code: true })],
    ["Hardware", text(run.hardware.label)],
    [
      "Same input and device",
      h("span", {}, h("a", { href: sameInput(run) }, "runs"), " · ", h("a", { href: historyHref(run) }, "history")),
    ],
    ["Tuner", text(run.algorithm.label)],
    ["Origin", text(run.origin.label)],
    ["Attempts", h("span", {}, count(run.attempts), " ", stateBadge(run.state))],
    ["Newest attempt", when(run.last_received_unix_ms)],
    ["Source", source],
    ["IR graphs", graphs.length ? h("span", {}, graphs.flatMap((graph, index) => (index ? [", ", graph] : [graph]))) : "none"],
    ["Run", shortId(run.run_id, "run id")],
    ["Settings", run.settings ? text(run.settings, { length: 60, code: true }) : "–"],
  ]);
}

/** @param {URLSearchParams} query */
function attemptFilter(query) {
  const chosen = query.getAll("attempt");
  if (chosen.length === 0) return null;
  return h(
    "p",
    { class: "banner" },
    `The tabs below show ${chosen.length === 1 ? "one attempt" : `${chosen.length} attempts`} only. `,
    h("button", { type: "button", class: "link", onclick: () => change({ attempt: null }) }, "Show all attempts"),
  );
}

/** @param {import("../../core/page.js").Page} page */
export function headPanel(page) {
  return panel(page, {
    title: "Run",
    kind: "run-head",
    name: `run-${page.path[0].slice(0, 8)}`,
    shows: ["attempt", "tab"],
    request: (query) => ({ path: `/runs/${page.path[0]}`, values: senderOf(query) }),
    loaded: (/** @type {Run} */ run) => page.title(`${short(run.kernel.label, 40)} ${short(run.shapes.label, 40)}`),
    draw: (run, query) => [
      h("h1", {}, h("bdi", {}, short(run.kernel.label, 80)), " ", h("small", {}, h("bdi", {}, short(run.shapes.label, 80)))),
      numbers(run),
      identity(run),
      attemptFilter(query),
    ],
  });
}
