// @ts-check
// All runs, with filters; sorted and paged by the server.
import { get } from "../core/api.js";
import { h, replace } from "../core/dom.js";
import { go, href, part, query } from "../core/url.js";
import { choice, clearLink, day, search } from "../parts/filters.js";
import { panel } from "../parts/panel.js";
import { RUN_COLUMNS } from "../parts/run_columns.js";
import { empty } from "../parts/states.js";
import { summariesNote } from "../parts/summaries.js";
import { cursorOf, pager, table } from "../parts/table.js";

const FACETS = /** @type {[keyof import("api").Facets, string][]} */ ([
  ["kernel", "Kernel"],
  ["shapes", "Shapes"],
  ["dtypes", "Dtypes"],
  ["hardware", "Hardware"],
  ["origin", "Origin"],
  ["algorithm", "Tuner"],
  ["dialect", "Format"],
  ["sender", "Sender"],
  ["state", "State"],
]);
const FILTERS = [...FACETS.map(([name]) => name), "since", "until", "q"];
const LIMIT = 50;

/** @param {URLSearchParams} values */
function filtersOf(values) {
  return Object.fromEntries(FILTERS.map((name) => [name, values.get(name)]));
}

/**
 * The filters; their choices depend on each other.
 * @param {import("../core/page.js").Page} page
 */
function filters(page) {
  const choices = h("div", { class: "filters" });
  const fixed = h("div", { class: "filters" }, search("Search", "q", "kernel, shapes, hardware, origin, run id"));
  const element = h(
    "form",
    {
      class: "panel filter-panel",
      role: "search",
      "aria-label": "Filters",
      onsubmit: (/** @type {Event} */ e) => e.preventDefault(),
    },
    fixed,
    choices,
  );
  let loaded = "";
  const load = async () => {
    const { q: _, ...values } = filtersOf(query());
    if (loaded === part(query(), FILTERS)) return;
    loaded = part(query(), FILTERS);
    try {
      /** @type {import("api").Facets} */
      const facets = await get({ path: "/facets", values }, page.signal);
      replace(
        choices,
        FACETS.map(([name, label]) => choice(label, name, facets[name])),
        day("From (UTC)", "since"),
        day("To (UTC)", "until"),
        clearLink(FILTERS),
      );
    } catch {
      replace(choices, clearLink(FILTERS));
    }
  };
  page.onQuery(() => void load());
  void load();
  return element;
}

/** Compares the selected runs. */
function compareSelected() {
  const chosen = [...document.querySelectorAll("input[name=compare]:checked")].map((input) =>
    `run:${/** @type {HTMLInputElement} */ (input).value}`
  );
  if (chosen.length >= 2) go(href("/compare", { item: chosen.slice(0, 8) }));
}

/** Returns the button that compares the selected runs, and the column that selects them. */
function comparison() {
  const button = h("button", { type: "button", disabled: true, onclick: compareSelected }, "Compare selected");
  const update = () => {
    const chosen = document.querySelectorAll("input[name=compare]:checked").length;
    button.disabled = chosen < 2 || chosen > 8;
    button.textContent = chosen ? `Compare ${chosen} selected` : "Compare selected";
  };
  /** @type {import("../parts/table.js").Column<import("api").RunRow>} */
  const column = {
    title: "Pick",
    cell: (run) =>
      h("input", {
        type: "checkbox",
        name: "compare",
        value: run.run_id,
        "aria-label": `compare run ${run.run_id.slice(0, 8)}`,
        onchange: update,
      }),
  };
  return { button, column };
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  page.title("Runs");
  const runs = panel(page, {
    title: "Runs",
    csv: true,
    request: (values) => ({
      path: "/runs",
      values: { ...filtersOf(values), sort: values.get("sort") ?? "-last_received", limit: LIMIT, cursor: cursorOf(values) },
    }),
    draw: (/** @type {import("api").RunList} */ data, values) => {
      if (data.items.length === 0) {
        return FILTERS.some((name) => values.has(name))
          ? empty("No run matches these filters", clearLink(FILTERS), " to see all runs.")
          : empty(
            "The dataset has no runs yet",
            "Forward the sidecars of a benchmark job with ",
            h("code", {}, "telemetry-worker forward --collector ADDRESS FOLDER"),
            ".",
          );
      }
      const { button, column } = comparison();
      const pages = { shown: data.items.length, limit: LIMIT, total: data.total, next: data.next_cursor, noun: "runs" };
      return [
        summariesNote(data.summaries),
        table({
          label: "Runs",
          rows: data.items,
          sort: values.get("sort") ?? "-last_received",
          columns: [column, ...RUN_COLUMNS],
        }),
        h("div", { class: "table-foot" }, button, pager(pages)),
      ];
    },
  });
  page.root.append(h("h1", {}, "Runs"), filters(page), runs.element);
}
