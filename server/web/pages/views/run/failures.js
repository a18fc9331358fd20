// @ts-check
// Why configs failed: statuses, and failures grouped by their reason.
import { h } from "../../core/dom.js";
import { count, counted, percent } from "../../core/format.js";
import { here } from "../../core/url.js";
import { configHref } from "../../parts/links.js";
import { panel } from "../../parts/panel.js";
import { empty } from "../../parts/states.js";
import { table } from "../../parts/table.js";
import { codeBlock, short, text } from "../../parts/text.js";
import { bar, cutNote, leftOut } from "../../parts/values.js";
import { runOf, runPart } from "./request.js";

/** @typedef {import("api").Statuses} Statuses */
/** @typedef {import("api").FailureGroup} FailureGroup */

/** @type {{[status: string]: string}} */
const KINDS = { ok: "good", error: "bad", timeout: "bad", peer_compilation_fail: "bad" };

/**
 * @param {import("../../core/page.js").Page} page
 * @param {string} [kind] of the section
 */
export function statusesPanel(page, kind) {
  return panel(page, {
    title: "Statuses",
    kind,
    csv: true,
    request: (query) => runPart(page, "statuses", query),
    draw: (/** @type {Statuses} */ data) => {
      if (data.statuses.length === 0) return empty("No measurements yet", "They appear here while the tuner sends its rows.");
      const total = data.statuses.reduce((sum, one) => sum + one.rows, 0);
      return [
        table({
          label: "Statuses",
          rows: data.statuses,
          columns: [
            {
              title: "Status",
              head: true,
              cell: (one) =>
                h(
                  "a",
                  { href: here({ tab: "rows", status: one.status, failure: null, "rows.cursor": null }) },
                  h("bdi", {}, short(one.status, 40)),
                ),
            },
            { title: "Share", cell: (one) => bar(one.rows / total, percent(one.rows / total), KINDS[one.status] ?? "plain") },
            { title: "Measurements", number: true, cell: (one) => count(one.rows) },
            { title: "Configs", number: true, cell: (one) => count(one.configs) },
          ],
        }),
        data.unfinished
          ? h(
            "p",
            { class: "banner" },
            `${counted(data.unfinished, "config")} started and did not end: the job hung or was killed.`,
          )
          : null,
        cutNote(data.cut),
      ];
    },
  });
}

/** @param {FailureGroup["knobs"]} knobs */
function typical(knobs) {
  if (knobs.length === 0) return h("p", { class: "note" }, "No value of a knob is typical of these configs.");
  return table({
    label: "Typical values",
    rows: knobs,
    columns: [
      {
        title: "Typical of them",
        head: true,
        cell: (knob) => h("span", { class: "code" }, text(knob.name, { length: 40 }), " = ", text(knob.text, { length: 40 })),
      },
      { title: "Share of these", cell: (knob) => bar(knob.share, percent(knob.share, 0), "bad") },
      { title: "Share of all", cell: (knob) => bar(knob.share_of_all, percent(knob.share_of_all, 0)) },
    ],
  });
}

/**
 * @param {FailureGroup} group
 * @param {{run_id: string, sender?: string | null}} run
 * @param {boolean} open
 */
function groupElement(group, run, open) {
  const place = [group.status, group.phase, group.error_class, group.code].filter((part, index, all) =>
    part && all.indexOf(part) === index
  );
  return h(
    "details",
    { class: "failure", open },
    h(
      "summary",
      {},
      h("span", { class: "failure-count" }, counted(group.configs, "config")),
      h("span", { class: "failure-title" }, h("bdi", {}, short(group.message ?? place.join(" · "), 160))),
    ),
    h("p", { class: "tags" }, place.map((part) => h("span", { class: "badge" }, h("bdi", {}, short(part, 40))))),
    typical(group.knobs),
    group.example.message ? h("h3", {}, "One of the messages") : null,
    group.example.message ? codeBlock(group.example.message, "message") : null,
    h(
      "p",
      {},
      h(
        "a",
        { href: here({ tab: "rows", failure: group.group, status: null, "rows.cursor": null }) },
        `All ${counted(group.rows, "measurement")}`,
      ),
      " · ",
      h("a", { href: configHref(run, group.example.config_id) }, "Config of this message"),
    ),
  );
}

/** @param {import("../../core/page.js").Page} page */
export function failuresPanel(page) {
  return panel(page, {
    title: "Reasons of failures",
    help: "Failures with the same phase, class and message, except for numbers (#); and the knobs that are typical of them.",
    csv: true,
    request: (query) => runPart(page, "statuses", query),
    draw: (/** @type {Statuses} */ data, query) => {
      if (data.failures.length === 0) return empty("No config failed", "Every measured config has a time.");
      const run = runOf(page, query);
      const configs = data.failures.reduce((sum, group) => sum + group.configs, 0);
      return [
        h("p", {}, `${counted(configs, "failed config")} in ${counted(data.failures.length, "group")}, the largest first.`),
        data.failures.map((group, index) => groupElement(group, run, index === 0 && data.failures.length === 1)),
        leftOut(data.failures_left_out, "groups"),
        cutNote(data.cut),
      ].flat();
    },
  });
}
