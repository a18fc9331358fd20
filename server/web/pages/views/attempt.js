// @ts-check
// One attempt: where it ran, its counters, and the events of its search.
import { exact } from "../charts/axes.js";
import { h } from "../core/dom.js";
import { count, duration, percent, time, times } from "../core/format.js";
import { runHref } from "../parts/links.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { cursorOf, pager, table } from "../parts/table.js";
import { shortId, text } from "../parts/text.js";
import { facts, stateBadge, when } from "../parts/values.js";

/** @typedef {import("api").AttemptDetail} AttemptDetail */

const LIMIT = 100;

/** @param {unknown} value */
function valueText(value) {
  return typeof value === "number" ? exact(value) : typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * @param {string} title
 * @param {{[name: string]: unknown} | null} object
 */
function objectTable(title, object) {
  const entries = Object.entries(object ?? {});
  return [
    h("h3", {}, title),
    entries.length === 0 ? h("p", { class: "note" }, "The producer sent none.") : table({
      label: title,
      rows: entries,
      columns: [
        { title: "Name", head: true, cell: ([name]) => text(name, { code: true }) },
        {
          title: "Value",
          cell: ([, value]) => text(valueText(value), { code: true }),
        },
      ],
    }),
  ];
}

/** @param {AttemptDetail} data */
function draw(data) {
  return [
    facts([
      [
        "Run",
        shortId(data.run_id, "run id", runHref({ run_id: data.run_id, sender: data.sender }, { attempt: data.attempt_id })),
      ],
      ["State", stateBadge(data.state)],
      ["Started", when(data.started_unix_ms)],
      ["Received", when(data.received_unix_ms)],
      ["Tuner", text(data.algorithm.label)],
      ["Seed", data.seed === null ? "–" : String(data.seed)],
      ["Origin", text(data.origin.label)],
      ["Sender", text(data.sender)],
      ["Format", data.dialect === "" ? "sent live" : text(data.dialect)],
      ["Best", `${time(data.best_ms)} (${times(data.speedup)})`],
      ["Configs", `${count(data.configs)}, ${count(data.failed)} failed`],
      ["Search time", duration(data.duration_s)],
      [
        "After the last improvement",
        data.duration_s && data.last_improvement_s !== null ? percent(1 - data.last_improvement_s / data.duration_s, 0) : "–",
      ],
      ["Compile time", duration(data.compile_s)],
    ]),
    data.provisional
      ? h("p", { class: "banner" }, "The identity of this attempt is provisional: its last record has not arrived.")
      : null,
    h(
      "div",
      { class: "columns" },
      h("div", {}, ...objectTable("Environment", data.environment)),
      h("div", {}, ...objectTable("Counters", data.counters)),
    ),
  ];
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  const [attempt_id] = page.path;
  page.title(`Attempt ${attempt_id.slice(0, 8)}`);
  const attempt = panel(page, {
    title: "Attempt",
    name: `attempt-${attempt_id}`,
    request: () => ({ path: `/attempts/${attempt_id}` }),
    draw,
  });
  const events = panel(page, {
    title: "Events of the search",
    help: "What the search did beside measuring, as its tuner wrote it.",
    csv: true,
    request: (query) => ({ path: `/attempts/${attempt_id}/events`, values: { limit: LIMIT, cursor: cursorOf(query) } }),
    draw: (/** @type {import("api").AttemptEventList} */ data) =>
      data.items.length === 0 ? empty("No events", "This tuner sends measurements only.") : [
        table({
          label: "Events",
          rows: data.items,
          columns: [
            { title: "Seq", number: true, cell: (event) => count(event.seq) },
            {
              title: "Time",
              cell: (event) => when(event.time_unix_ms),
            },
            {
              title: "Event",
              head: true,
              cell: (event) => text(event.name, { length: 40 }),
            },
            { title: "Content", cell: (event) => text(event.text, { length: 160, code: true }) },
          ],
        }),
        h(
          "div",
          { class: "table-foot" },
          pager({ shown: data.items.length, limit: LIMIT, next: data.next_cursor, noun: "events" }),
        ),
      ],
  });
  page.root.append(
    h("h1", {}, "Attempt ", h("span", { class: "code" }, attempt_id.slice(0, 8))),
    attempt.element,
    events.element,
  );
}
