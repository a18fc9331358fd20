// @ts-check
// The attempts of a run; the selected ones are a filter of the other tabs.
import { h } from "../../core/dom.js";
import { count, duration, percent, time, times } from "../../core/format.js";
import { change, here, href, query } from "../../core/url.js";
import { attemptHref, senderOf } from "../../parts/links.js";
import { panel } from "../../parts/panel.js";
import { empty } from "../../parts/states.js";
import { table } from "../../parts/table.js";
import { shortId, text } from "../../parts/text.js";
import { leftOut, stateBadge, when } from "../../parts/values.js";

/** @typedef {import("api").AttemptRow} AttemptRow */

/** @param {AttemptRow} row */
function pick(row) {
  const toggle = (/** @type {Event} */ event) => {
    const chosen = new Set(query().getAll("attempt"));
    if (/** @type {HTMLInputElement} */ (event.target).checked) chosen.add(row.attempt_id);
    else chosen.delete(row.attempt_id);
    change({ attempt: [...chosen] });
  };
  return h("input", {
    type: "checkbox",
    checked: query().getAll("attempt").includes(row.attempt_id),
    onchange: toggle,
    "aria-label": `only attempt ${row.attempt_id.slice(0, 8)}`,
    "data-focus": `pick-${row.attempt_id}`,
  });
}

/** @param {AttemptRow} row */
function failed(row) {
  if (row.failed === 0) return count(0);
  return h("a", { href: here({ tab: "failures", attempt: row.attempt_id }) }, count(row.failed));
}

/** @param {AttemptRow} row */
function afterLast(row) {
  if (row.duration_s === null || row.last_improvement_s === null || row.duration_s <= 0) return "–";
  return `${percent(1 - row.last_improvement_s / row.duration_s, 0)} (${duration(row.duration_s - row.last_improvement_s)})`;
}

/** @type {import("../../parts/table.js").Column<AttemptRow>[]} */
const COLUMNS = [
  { title: "Pick", cell: pick },
  { title: "Attempt", head: true, cell: (row) => shortId(row.attempt_id, "attempt id", attemptHref(row.attempt_id)) },
  { title: "State", cell: (row) => stateBadge(row.state) },
  { title: "Started", cell: (row) => when(row.started_unix_ms ?? row.received_unix_ms) },
  { title: "Best", number: true, cell: (row) => time(row.best_ms) },
  { title: "Default", number: true, cell: (row) => time(row.default_ms), note: "first config of the search" },
  { title: "Speed-up", number: true, cell: (row) => times(row.speedup) },
  { title: "Configs", number: true, cell: (row) => count(row.configs) },
  { title: "Failed", number: true, cell: failed },
  { title: "Search time", number: true, cell: (row) => duration(row.duration_s) },
  { title: "After the last improvement", number: true, cell: afterLast, note: "part of the search that found nothing better" },
  { title: "Compile time", number: true, cell: (row) => duration(row.compile_s), note: "sum over all configs" },
  { title: "Noise", number: true, cell: (row) => percent(row.noise) },
  { title: "Tuner", cell: (row) => text(row.algorithm.label, { length: 32 }) },
  { title: "Seed", number: true, narrow: true, cell: (row) => (row.seed === null ? "–" : String(row.seed)) },
  { title: "Origin", cell: (row) => text(row.origin.label, { length: 40 }) },
  { title: "Sender", narrow: true, cell: (row) => text(row.sender, { length: 30 }) },
];

/** @param {import("../../core/page.js").Page} page */
export function attemptPanel(page) {
  return panel(page, {
    title: "Attempts",
    help: "Picked attempts are a filter of the other tabs.",
    name: "attempts",
    shows: ["attempt"],
    request: (query) => ({ path: `/runs/${page.path[0]}`, values: senderOf(query) }),
    draw: (/** @type {import("api").Run} */ run, query) => {
      if (run.attempt_list.length === 0) return empty("No attempts", "They may have been pruned.");
      const chosen = query.getAll("attempt");
      const compare = chosen.length >= 2 && chosen.length <= 8
        ? h(
          "a",
          { class: "button", href: href("/compare", { item: chosen.map((id) => `attempt:${id}`) }) },
          `Compare ${chosen.length} picked`,
        )
        : h("span", { class: "note" }, "Pick two to eight attempts to compare them.");
      return [
        table({ label: "Attempts", rows: run.attempt_list, columns: COLUMNS }),
        h("div", { class: "table-foot" }, compare),
        leftOut(run.attempts_left_out, "attempts"),
      ];
    },
  });
}
