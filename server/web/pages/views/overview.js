// @ts-check
// What runs, what is new, what became slower, and if the service is healthy.
import { h } from "../core/dom.js";
import { bytes, count } from "../core/format.js";
import { listen } from "../core/live.js";
import { panel } from "../parts/panel.js";
import { NEWEST_COLUMNS } from "../parts/run_columns.js";
import { empty } from "../parts/states.js";
import { stepTable } from "../parts/steps.js";
import { summariesNote } from "../parts/summaries.js";
import { table } from "../parts/table.js";
import { text } from "../parts/text.js";
import { tiles, when } from "../parts/values.js";
import { activityChart } from "./overview/activity.js";
import { runningPanel } from "./overview/running.js";

/** @typedef {import("api").Overview} Overview */

const DAY_MS = 24 * 60 * 60 * 1000;
// The number of steps that an answer has at most.
const MOST_STEPS = 10;

/** @param {Overview["sizes"]} sizes */
function sizesOf(sizes) {
  return tiles([
    ["Runs", h("a", { href: "/runs" }, count(sizes.runs))],
    ["Kernels", h("a", { href: "/kernels" }, count(sizes.kernels))],
    ["Attempts", count(sizes.attempts)],
    ["Measurements", count(sizes.rows)],
    ["Configs", count(sizes.configs)],
    ["Cache entries", h("a", { href: "/cache" }, count(sizes.cache_entries))],
    ["Producers", h("a", { href: "/producers" }, count(sizes.producers))],
    ["Database", bytes(sizes.bytes)],
  ]);
}

/** @type {{[state: string]: string}} */
const COLLECTOR_STATES = {
  serving: "serving",
  not_serving: "not serving",
  unreachable: "unreachable",
  unknown: "not checked yet",
};

/** @param {Overview["health"]} health */
function healthOf(health) {
  const collectors = health.collectors.length === 0
    ? h(
      "p",
      { class: "note" },
      "No collector is watched; start telemetry-web with ",
      h("code", {}, "--collector ADDRESS"),
      " to see its state.",
    )
    : h(
      "ul",
      { class: "plain" },
      health.collectors.map((one) =>
        h(
          "li",
          {},
          h("span", { class: `badge health-${one.state}` }, COLLECTOR_STATES[one.state]),
          " ",
          text(one.address),
          " ",
          one.detail ? text(one.detail) : null,
        )
      ),
    );
  return [
    tiles([
      ["Newest record", when(health.newest_received_unix_ms)],
      [
        "Rejects in 24 h",
        h("a", { href: "/rejects", class: health.rejects_last_day ? "warn" : "" }, count(health.rejects_last_day)),
      ],
      ["Database", health.database === "sqlite" ? "SQLite" : "PostgreSQL"],
      ["Oldest running attempt", when(health.oldest_running_unix_ms)],
    ]),
    collectors,
  ];
}

/** @param {Overview} data */
function tablesOf(data) {
  if (data.sizes.tables.length === 0) return null;
  return h(
    "details",
    {},
    h("summary", {}, "Sizes of the tables"),
    table({
      label: "Sizes of the tables",
      rows: data.sizes.tables,
      columns: [{ title: "Table", head: true, cell: (one) => text(one.name) }, {
        title: "Size",
        number: true,
        cell: (one) => bytes(one.bytes),
      }],
    }),
  );
}

/**
 * @param {string} title
 * @param {string} help
 * @param {import("../core/dom.js").Children} content
 */
function part(title, help, content) {
  return h(
    "section",
    { class: "sub", "aria-label": title },
    h("h3", {}, title),
    help ? h("p", { class: "help" }, help) : null,
    .../** @type {import("../core/dom.js").Child[]} */ ([content].flat()),
  );
}

/**
 * Says how many of the steps are from the last day.
 * @param {Overview} data
 */
function ofLastDay({ regressions, now_unix_ms }) {
  const recent = regressions.filter((step) => step.time_unix_ms !== null && step.time_unix_ms > now_unix_ms - DAY_MS).length;
  if (recent === 0) return "None in the last 24 hours.";
  return `${count(recent)}${recent === MOST_STEPS ? " or more" : ""} in the last 24 hours.`;
}

/** @param {Overview} data */
function draw(data) {
  const newest = data.newest.length ? table({ label: "Newest results", rows: data.newest, columns: NEWEST_COLUMNS }) : empty(
    "The dataset has no runs yet",
    "Forward the sidecars of a benchmark job with ",
    h("code", {}, "telemetry-worker forward"),
    ".",
  );
  const slower = data.regressions.length
    ? stepTable(data.regressions, "Regressions")
    : h("p", { class: "note" }, "No kernel became slower, as far as attempts of the same run have been repeated.");
  const help = `Detected steps of the best or the default time, the newest first. ${ofLastDay(data)}`;
  return [
    summariesNote(data.summaries),
    part("Slower than before", help, [slower, h("p", {}, h("a", { href: "/regressions" }, "All regressions"))]),
    part("Newest results", "", [newest, h("p", {}, h("a", { href: "/runs" }, "All runs"))]),
    sizesOf(data.sizes),
    h(
      "div",
      { class: "columns" },
      part("Attempts per day", "", activityChart(data.activity)),
      part("Health", "", [healthOf(data.health), tablesOf(data)].flat()),
    ),
  ];
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  page.title("Overview");
  const running = runningPanel();
  let version = -1;
  const overview = panel(page, {
    title: "Dataset",
    name: "overview",
    request: () => ({ path: "/overview" }),
    loaded: (/** @type {Overview} */ data) => {
      version = data.version;
      running.show(data.running);
    },
    draw,
  });
  page.root.append(h("h1", {}, "Overview"), running.element, overview.element);
  listen(null, page.signal, (event) => {
    running.show(event.running);
    if (event.version !== version) overview.reload();
  }, running.connected);
}
