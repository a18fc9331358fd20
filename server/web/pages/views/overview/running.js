// @ts-check
// The attempts that run now; each change of the dataset arrives as an event.
import { h, replace } from "../../core/dom.js";
import { count, duration, time, times } from "../../core/format.js";
import { attemptHref, runHref } from "../../parts/links.js";
import { table } from "../../parts/table.js";
import { link, shortId, text } from "../../parts/text.js";
import { when } from "../../parts/values.js";

/** @typedef {import("api").RunningAttempt} RunningAttempt */

/** @type {import("../../parts/table.js").Column<RunningAttempt>[]} */
const COLUMNS = [
  { title: "Kernel", head: true, cell: (one) => link(runHref(one), one.kernel.label ?? `run ${one.run_id.slice(0, 8)}`) },
  { title: "Shapes", cell: (one) => text(one.shapes.label, { length: 40, code: true }) },
  { title: "Hardware", cell: (one) => text(one.hardware.label, { length: 32 }) },
  { title: "Tuner", narrow: true, cell: (one) => text(one.algorithm.label, { length: 32 }) },
  { title: "Generation", number: true, narrow: true, cell: (one) => count(one.generation) },
  { title: "Configs", number: true, cell: (one) => count(one.configs) },
  { title: "Failed", number: true, cell: (one) => count(one.failed) },
  { title: "Best", number: true, cell: (one) => time(one.best_ms) },
  {
    title: "Speed-up",
    number: true,
    cell: (one) => times(one.default_ms && one.best_ms ? one.default_ms / one.best_ms : null),
  },
  { title: "Search time", number: true, cell: (one) => duration(one.elapsed_s) },
  { title: "Newest row", cell: (one) => when(one.last_received_unix_ms) },
  { title: "Attempt", cell: (one) => shortId(one.attempt_id, "attempt id", attemptHref(one.attempt_id)) },
];

export function runningPanel() {
  const state = h("span", { class: "badge live-off", role: "status" }, "connecting");
  const body = h("div", { class: "panel-body" });
  const element = h(
    "section",
    { class: "panel", "aria-label": "Running now" },
    h("header", { class: "panel-head" }, h("h2", {}, "Running now"), state),
    body,
  );
  return {
    element,
    /** @param {RunningAttempt[]} attempts */
    show(attempts) {
      if (attempts.length === 0) {
        replace(
          body,
          h("p", { class: "note" }, "No attempt runs at the moment. Attempts appear here while a tuner sends its rows."),
        );
      } else replace(body, table({ label: "Running attempts", rows: attempts, columns: COLUMNS }));
    },
    /** @param {boolean} is_connected */
    connected(is_connected) {
      state.textContent = is_connected ? "live" : "reconnecting";
      state.className = `badge ${is_connected ? "live-on" : "live-off"}`;
    },
  };
}
