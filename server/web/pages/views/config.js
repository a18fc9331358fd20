// @ts-check
// One config of a run: its text, measurements, samples and generated code.
import { h } from "../core/dom.js";
import { bytes, count, duration, percent, significant, time } from "../core/format.js";
import { attemptHref, runHref, senderOf } from "../parts/links.js";
import { crumbs } from "../parts/crumbs.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";
import { codeBlock, short, shortId, text } from "../parts/text.js";
import { leftOut } from "../parts/values.js";

/** @typedef {import("api").ConfigDetail} ConfigDetail */
/** @typedef {import("api").RowDetail} RowDetail */

/** @type {import("../parts/table.js").Column<RowDetail>[]} */
const ROW_COLUMNS = [
  { title: "Attempt", head: true, cell: (row) => shortId(row.attempt_id, "attempt id", attemptHref(row.attempt_id)) },
  { title: "Seq", number: true, cell: (row) => count(row.seq) },
  { title: "Status", cell: (row) => text(row.status, { length: 30 }) },
  { title: "Stage", cell: (row) => text(row.stage, { length: 20 }) },
  { title: "Time", number: true, cell: (row) => time(row.perf_ms) },
  { title: "Median", number: true, cell: (row) => time(row.quantiles?.median) },
  { title: "Samples", number: true, cell: (row) => count(row.samples_ms?.length ?? row.quantiles?.count) },
  { title: "Compile time", number: true, cell: (row) => duration(row.compile_time_s) },
  { title: "Registers", number: true, cell: (row) => count(row.registers) },
  { title: "Spills", number: true, cell: (row) => bytes(row.spill_bytes) },
  { title: "Shared memory", number: true, cell: (row) => bytes(row.shared_bytes) },
  { title: "Occupancy", number: true, cell: (row) => percent(row.occupancy, 0) },
  { title: "Clock", number: true, cell: (row) => (row.sm_clock_mhz === null ? "–" : `${count(row.sm_clock_mhz)} MHz`) },
  {
    title: "Largest relative error",
    number: true,
    cell: (row) => (row.worst_relative_error === null ? "–" : significant(row.worst_relative_error, 3)),
    note: "of the result, against the reference",
  },
];

/** @param {RowDetail} row */
function failure(row) {
  const message = row.failure_json ?? row.failure;
  return message === null
    ? null
    : h("section", { class: "sub" }, h("h3", {}, `Failure of measurement ${count(row.seq)}`), codeBlock(message, "failure"));
}

/** @param {ConfigDetail["code"][number]} code */
function codeOf(code) {
  const title = `Generated code${code.language ? `: ${short(code.language, 30)}` : ""}, ${bytes(code.text.length)}`;
  return h("details", {}, h("summary", {}, title), codeBlock(code.text, "code"));
}

/** @param {ConfigDetail} data */
function draw(data) {
  const failures = data.rows.map(failure).filter((element) => element !== null).slice(0, 5);
  return [
    codeBlock(data.decorator ?? data.text ?? data.json ?? data.config_id, "config"),
    data.repro ? h("h3", {}, "Run it again") : null,
    data.repro ? codeBlock(data.repro, "command") : null,
    h("h3", {}, "Measurements"),
    data.rows.length
      ? table({ label: "Measurements", rows: data.rows, columns: ROW_COLUMNS })
      : empty("No measurements", "They may have been pruned."),
    leftOut(data.rows_left_out, "measurements"),
    ...failures,
    h("h3", {}, "Arguments"),
    table({
      label: "Arguments",
      rows: data.arguments,
      columns: [
        { title: "Knob", head: true, cell: (one) => text(one.name, { code: true }) },
        { title: "Value", cell: (one) => text(one.text, { code: true }) },
      ],
    }),
    h("h3", {}, "Code"),
    ...(data.code.length
      ? data.code.map(codeOf)
      : [h("p", { class: "note" }, "The search did not store code of this config; the command above writes it again.")]),
  ];
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  const [run_id, config_id] = page.path;
  page.title(`Config ${config_id.slice(0, 8)}`);
  const config = panel(page, {
    title: "Config",
    name: `config-${config_id}`,
    request: (query) => ({ path: `/runs/${run_id}/configs/${config_id}`, values: senderOf(query) }),
    draw,
  });
  const run = { run_id, ...senderOf(new URLSearchParams(location.search)) };
  page.root.append(
    crumbs([["/runs", "Runs"], [runHref(run), `run ${run_id.slice(0, 8)}`], [
      runHref(run, { tab: "rows", config_id }),
      "measurements",
    ]]),
    h("h1", {}, "Config ", h("span", { class: "code" }, config_id)),
    config.element,
  );
}
