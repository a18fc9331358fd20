// @ts-check
// A view that is one list: filters, a table that the server pages, and its export.
import { h } from "../core/dom.js";
import { panel } from "./panel.js";
import { cursorOf, pager, table } from "./table.js";

const LIMIT = 100;

/**
 * @template {{items: any[], next_cursor?: string | null, total?: number}} D
 * @typedef {object} ListOptions
 * @property {string} title
 * @property {string} [help]
 * @property {string} path of the request
 * @property {string} noun
 * @property {string[]} filters names in the URL that the request has, too
 * @property {string} [sort] default of the server
 * @property {import("./table.js").Column<D["items"][number]>[]} columns
 * @property {(data: D) => import("../core/dom.js").Children} [controls]
 * @property {(data: D) => import("../core/dom.js").Children} [before]
 * @property {(filtered: boolean) => HTMLElement} empty
 * @property {boolean} [whole] the list has no pages
 */

/**
 * Mounts a view with a list.
 * @template {{items: any[], next_cursor?: string | null, total?: number}} D
 * @param {import("../core/page.js").Page} page
 * @param {ListOptions<D>} options
 */
export function mountList(page, options) {
  page.title(options.title);
  const list = panel(page, {
    title: options.title,
    help: options.help,
    csv: true,
    request: (query) => ({
      path: options.path,
      values: {
        ...Object.fromEntries(options.filters.map((name) => [name, query.get(name)])),
        ...(options.sort ? { sort: query.get("sort") ?? options.sort } : {}),
        ...(options.whole ? {} : { limit: LIMIT, cursor: cursorOf(query) }),
      },
    }),
    draw: (/** @type {D} */ data, query) => {
      const controls = h("div", { class: "controls" }, ...[options.controls?.(data) ?? []].flat());
      const before = [options.before?.(data) ?? []].flat();
      if (data.items.length === 0) return [controls, ...before, options.empty(options.filters.some((name) => query.has(name)))];
      const pages = {
        shown: data.items.length,
        limit: LIMIT,
        total: data.total,
        next: data.next_cursor ?? null,
        noun: options.noun,
      };
      return [
        controls,
        ...before,
        table({
          label: options.title,
          rows: data.items,
          columns: options.columns,
          sort: options.sort ? query.get("sort") ?? options.sort : undefined,
        }),
        options.whole ? null : h("div", { class: "table-foot" }, pager(pages)),
      ];
    },
  });
  page.root.append(h("h1", {}, options.title), list.element);
}
