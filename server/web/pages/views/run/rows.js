// @ts-check
// The measurements of a run.
import { h } from "../../core/dom.js";
import { count, duration, time } from "../../core/format.js";
import { choice, clearLink } from "../../parts/filters.js";
import { attemptHref, configHref } from "../../parts/links.js";
import { panel } from "../../parts/panel.js";
import { empty } from "../../parts/states.js";
import { cursorOf, pager, table } from "../../parts/table.js";
import { shortId, text } from "../../parts/text.js";
import { cutNote } from "../../parts/values.js";
import { runOf, runPart } from "./request.js";

/** @typedef {import("api").Row} Row */

const LIMIT = 100;
const FILTERS = ["status", "failure", "config_id"];

/** @param {{run_id: string, sender?: string | null}} run @returns {import("../../parts/table.js").Column<Row>[]} */
function columnsOf(run) {
  return [
    { title: "Seq", sort: "seq", number: true, cell: (row) => count(row.seq) },
    { title: "After", number: true, cell: (row) => duration(row.timestamp_s), note: "since the beginning of the search" },
    { title: "Generation", number: true, narrow: true, cell: (row) => count(row.generation) },
    { title: "Config", head: true, cell: (row) => shortId(row.config_id, "config id", configHref(run, row.config_id)) },
    {
      title: "Status",
      cell: (row) =>
        h("span", {
          class: `badge ${
            row.status === "ok" ? "state-complete" : row.status === "error" || row.status === "timeout" ? "state-abandoned" : ""
          }`,
        }, text(row.status, { length: 30 })),
    },
    { title: "Time", sort: "perf", number: true, cell: (row) => time(row.perf_ms) },
    { title: "Compile time", sort: "compile", number: true, cell: (row) => duration(row.compile_time_s) },
    { title: "Stage", narrow: true, cell: (row) => text(row.stage, { length: 20 }) },
    { title: "Failure", cell: (row) => (row.failure === null ? "" : text(row.failure, { length: 80 })) },
    { title: "Arguments", cell: (row) => text(row.config, { length: 60, code: true }) },
    { title: "Attempt", narrow: true, cell: (row) => shortId(row.attempt_id, "attempt id", attemptHref(row.attempt_id)) },
  ];
}

/** @param {import("../../core/page.js").Page} page */
export function rowsPanel(page) {
  return panel(page, {
    title: "Measurements",
    csv: true,
    request: (query) =>
      runPart(page, "rows", query, {
        ...Object.fromEntries(FILTERS.map((name) => [name, query.get(name)])),
        sort: query.get("rows.sort") ?? "seq",
        limit: LIMIT,
        cursor: cursorOf(query, "rows."),
      }),
    draw: (/** @type {import("api").RowList} */ data, query) => {
      const statuses = ["ok", "error", "timeout", "started", "deduplicated", "peer_compilation_fail"].map((status) => ({
        label: status,
        filter: status,
      }));
      const controls = h(
        "div",
        { class: "controls" },
        choice("Status", "status", statuses, { resets: ["rows.cursor", "failure"] }),
        clearLink(FILTERS),
      );
      if (data.items.length === 0) return [controls, empty("No measurement matches", "Clear the filters to see all.")];
      return [
        controls,
        table({
          label: "Measurements",
          rows: data.items,
          columns: columnsOf(runOf(page, query)),
          sort: query.get("rows.sort") ?? "seq",
          prefix: "rows.",
        }),
        h(
          "div",
          { class: "table-foot" },
          cutNote(data.cut),
          pager({ shown: data.items.length, limit: LIMIT, next: data.next_cursor, noun: "measurements", prefix: "rows." }),
        ),
      ];
    },
  });
}
