// @ts-check
// Two to eight runs, attempts, devices or versions beside each other; the first is the baseline.
import { h } from "../core/dom.js";
import { count, time, timeScale } from "../core/format.js";
import { href, query } from "../core/url.js";
import { attemptHref, runHref } from "../parts/links.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";
import { short, shortId, text } from "../parts/text.js";
import { changeBadge, leftOut } from "../parts/values.js";

/** @typedef {import("api").Comparison} Comparison */
/** @typedef {Comparison["items"][number]} Item */
/** @typedef {import("api").Ratio} Ratio */

const BASES = {
  samples: "samples of the best configs",
  attempts: "attempts",
  configs: "configs that both measured",
  shapes: "shapes",
  none: "single values",
};

/** @param {Item} item @param {number} index */
function nameOf(item, index) {
  const letter = String.fromCharCode(65 + index);
  const id = item.item.slice(item.item.indexOf(":") + 1);
  const target = item.kind === "run" ? runHref({ run_id: id }) : item.kind === "attempt" ? attemptHref(id) : null;
  const label = h("bdi", { title: short(item.item, 200) }, short(item.label, 80));
  return h("span", {}, h("strong", { class: "letter" }, letter), " ", target ? h("a", { href: target }, label) : label);
}

/**
 * Returns the address with another order of the items, so that another one is the baseline.
 * @param {number} index
 */
function asBaseline(index) {
  const values = query();
  const items = values.getAll("item");
  values.delete("item");
  [items[index], ...items.filter((_, at) => at !== index)].forEach((item) => values.append("item", item));
  return href("/compare", values);
}

/** @param {Ratio | undefined} ratio */
function ratioOf(ratio) {
  if (!ratio || ratio.ratio === null) return h("span", { class: "unknown" }, "–");
  return h(
    "span",
    { title: `from ${count(ratio.count)} ${BASES[ratio.basis]}` },
    changeBadge(ratio.ratio, ratio),
    h("span", { class: "sub-text" }, `${count(ratio.count)} ${ratio.basis}`),
  );
}

/** @param {Comparison} data */
function itemTable(data) {
  /** @type {import("../parts/table.js").Column<Item>[]} */
  const columns = [
    { title: "Item", head: true, cell: nameOf },
    { title: "Best", number: true, cell: (item) => time(item.best_ms) },
    { title: "Default", number: true, cell: (item) => time(item.default_ms) },
    {
      title: "Best, change",
      number: true,
      cell: (_, index) => (index === 0 ? "baseline" : ratioOf(data.pairs.find((pair) => pair.other === index)?.best)),
      note: "of the best time, with a 95 % confidence interval",
    },
    {
      title: "Default, change",
      number: true,
      cell: (_, index) => (index === 0 ? "baseline" : ratioOf(data.pairs.find((pair) => pair.other === index)?.default)),
    },
    {
      title: "Common configs, change",
      number: true,
      cell: (_, index) => (index === 0 ? "baseline" : ratioOf(data.pairs.find((pair) => pair.other === index)?.common)),
      note: "geometric mean over the configs that both measured",
    },
    { title: "Attempts", number: true, cell: (item) => count(item.attempts) },
    { title: "Measurements", number: true, cell: (item) => count(item.rows) },
    { title: "Best config", cell: (item) => text(item.best_config, { length: 60, code: true }) },
    { title: "Baseline", cell: (_, index) => (index === 0 ? "" : h("a", { href: asBaseline(index) }, "use as baseline")) },
  ];
  return table({ label: "Compared items", rows: data.items, columns });
}

/** @param {Comparison} data */
function shapeTable(data) {
  if (data.shapes.length === 0) return null;
  return h(
    "section",
    { class: "sub" },
    h("h3", {}, "For each shape"),
    table({
      label: "Times for each shape",
      rows: data.shapes,
      columns: [
        { title: "Shapes", head: true, cell: (row) => text(row.shapes.label, { length: 50, code: true }) },
        { title: "Dtypes", cell: (row) => text(row.dtypes.label, { length: 30, code: true }) },
        ...data.items.flatMap((_, index) => {
          const letter = String.fromCharCode(65 + index);
          /** @type {import("../parts/table.js").Column<Comparison["shapes"][number]>[]} */
          const columns = [{
            title: `${letter}: best`,
            number: true,
            cell: (row) => {
              const run_id = row.run_ids[index];
              return run_id ? h("a", { href: runHref({ run_id }) }, time(row.best_ms[index])) : time(row.best_ms[index]);
            },
          }];
          if (index > 0) {
            columns.push({
              title: `${letter} to A`,
              number: true,
              cell: (row) => {
                const [base, other] = [row.best_ms[0], row.best_ms[index]];
                return base && other ? changeBadge(other / base) : "–";
              },
            });
          }
          return columns;
        }),
      ],
    }),
  );
}

/** @param {Comparison} data */
function configTable(data) {
  if (data.configs.length === 0) {
    return h("p", { class: "note" }, "The items have no measured config in common, or several shapes.");
  }
  const scale = timeScale(data.configs.flatMap((config) => config.perf_ms));
  return [
    table({
      label: "Configs that changed rank",
      rows: data.configs,
      columns: [
        { title: "Config", head: true, cell: (config) => shortId(config.config_id, "config id") },
        {
          title: "Rank change",
          number: true,
          cell: (config) => count(config.rank_change),
        },
        ...data.items.flatMap((_, index) => {
          const letter = String.fromCharCode(65 + index);
          return /** @type {import("../parts/table.js").Column<Comparison["configs"][number]>[]} */ ([
            { title: `${letter}: rank`, number: true, cell: (config) => count(config.rank[index]) },
            { title: `${letter} (${scale.unit})`, number: true, cell: (config) => scale.text(config.perf_ms[index]) },
          ]);
        }),
        { title: "Arguments", cell: (config) => text(config.config, { length: 70, code: true }) },
      ],
    }),
    leftOut(data.configs_left_out, "common configs"),
  ];
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  page.title("Compare");
  page.root.append(h("h1", {}, "Compare"));
  if (query().getAll("item").length < 2) {
    page.root.append(
      empty(
        "Choose what to compare",
        "Pick two to eight runs in the ",
        h("a", { href: "/runs" }, "list of runs"),
        ", attempts in a run's tab Attempts, or devices and versions on the page of a ",
        h("a", { href: "/kernels" }, "kernel"),
        ".",
      ),
    );
    return;
  }
  const comparison = panel(page, {
    title: "Differences",
    help: "A is the baseline; + is slower, grey is no significant difference. A tooltip has the 95 % confidence interval.",
    csv: true,
    name: "comparison",
    request: (values) => ({
      path: "/compare",
      values: {
        item: values.getAll("item"),
        kernel: values.get("kernel"),
        shapes: values.get("shapes"),
        dtypes: values.get("dtypes"),
      },
    }),
    draw: (/** @type {Comparison} */ data) =>
      [
        itemTable(data),
        shapeTable(data),
        h("h3", {}, `Configs that changed rank, of ${count(data.common_configs)} common configs`),
        configTable(data),
      ].flat(),
  });
  page.root.append(comparison.element);
}
