// @ts-check
// Tables that the server sorts and pages. Sorting and the page are values in the URL.
import { h } from "../core/dom.js";
import { count } from "../core/format.js";
import { here, query } from "../core/url.js";

/** @typedef {import("../core/dom.js").Children} Children */

// Pages before the current one whose cursors stand in the URL.
const KEPT = 8;

/**
 * @template R
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: R, index: number) => Children} cell
 * @property {boolean} [number] aligned to the right
 * @property {string} [sort] name of the column for the server
 * @property {boolean} [down] the first click sorts downwards
 * @property {string} [note] explains the column
 * @property {boolean} [narrow] hidden on narrow screens
 * @property {boolean} [head] names the row
 */

/**
 * @template R
 * @typedef {object} TableOptions
 * @property {string} label
 * @property {Column<R>[]} columns
 * @property {R[]} rows
 * @property {string} [sort] current value, "-best"
 * @property {string} [prefix] before the names of values in the URL
 * @property {(row: R) => string | null} [rowClass]
 */

/**
 * @template R
 * @param {Column<R>} column
 * @param {string | undefined} sort
 * @param {string} prefix
 */
function head(column, sort, prefix) {
  const key = column.sort;
  const direction = key && sort === key ? "ascending" : key && sort === `-${key}` ? "descending" : null;
  const attributes = { scope: "col", class: classes(column), title: column.note, "aria-sort": direction };
  if (!key) return h("th", attributes, column.title);
  const next = direction === "ascending" ? `-${key}` : direction === "descending" ? key : column.down ? `-${key}` : key;
  const target = here({ [`${prefix}sort`]: next, [`${prefix}cursor`]: null });
  return h("th", attributes, h("a", { href: target, class: "sort", "data-focus": `${prefix}sort-${key}` }, column.title));
}

/** @param {Column<any>} column */
function classes(column) {
  return [column.number ? "number" : "", column.narrow ? "wide-only" : ""].filter(Boolean).join(" ") || null;
}

/**
 * Returns a table, which scrolls sideways where it is too wide.
 * @template R
 * @param {TableOptions<R>} options
 */
export function table({ label, columns, rows, sort, prefix = "", rowClass }) {
  const body = rows.map((row, index) =>
    h(
      "tr",
      { class: rowClass?.(row) },
      columns.map((column) => {
        const content = /** @type {import("../core/dom.js").Child[]} */ ([column.cell(row, index)].flat());
        return column.head
          ? h("th", { scope: "row", class: classes(column) }, content)
          : h("td", { class: classes(column) }, content);
      }),
    )
  );
  return h(
    "div",
    { class: "table-box", tabindex: 0, role: "group", "aria-label": label },
    h("table", {}, h("thead", {}, h("tr", {}, columns.map((column) => head(column, sort, prefix)))), h("tbody", {}, body)),
  );
}

/**
 * Returns links to the first, previous and next page. The cursors of the newest pages stand in the URL, and the number of those
 * before them: an address must not grow with each page.
 * @param {{shown: number, limit: number, total?: number | null, next: string | null, noun: string, prefix?: string}} options
 */
export function pager({ shown, limit, total, next, noun, prefix = "" }) {
  const values = query();
  const cursors = values.getAll(`${prefix}cursor`);
  const skipped = cursors.length ? Number(values.get(`${prefix}skip`) ?? 0) || 0 : 0;
  const before = (skipped + cursors.length) * limit;
  const first = before + (shown ? 1 : 0);
  const last = before + shown;
  const range = shown === 0
    ? `no ${noun}`
    : `${count(first)}–${count(last)}${total === null || total === undefined ? "" : ` of ${count(total)}`} ${noun}`;
  /** @param {string} label @param {string[] | null} to */
  const step = (label, to) => {
    if (to === null) return h("span", { class: "page-link off", "aria-disabled": "true" }, label);
    const skip = to.length === 0 ? 0 : skipped + Math.max(0, to.length - KEPT);
    const target = here({ [`${prefix}cursor`]: to.slice(-KEPT), [`${prefix}skip`]: skip || null });
    return h("a", { class: "page-link", href: target, "data-focus": `${prefix}${label}` }, label);
  };
  return h(
    "nav",
    { class: "pager", "aria-label": `Pages of ${noun}` },
    h("span", {}, range),
    step("First", cursors.length ? [] : null),
    step("Previous", cursors.length > (skipped ? 1 : 0) ? cursors.slice(0, -1) : null),
    step("Next", next === null ? null : [...cursors, next]),
  );
}

/**
 * Returns the cursor of the current page.
 * @param {URLSearchParams} values
 * @param {string} [prefix]
 */
export function cursorOf(values, prefix = "") {
  return values.getAll(`${prefix}cursor`).at(-1) ?? null;
}
