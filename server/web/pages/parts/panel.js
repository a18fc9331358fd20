// @ts-check
// A section of a view: loads its data for the current URL, draws it, and exports it.
import { apiUrl, get } from "../core/api.js";
import { h, replace } from "../core/dom.js";
import { throttled } from "../core/live.js";
import { part, query } from "../core/url.js";
import { exportMenu } from "./export_menu.js";
import { failed, loading, stale } from "./states.js";

/** @typedef {import("../core/api.js").Request} Request */
/** @typedef {import("../core/dom.js").Children} Children */

/**
 * @template D
 * @typedef {object} PanelOptions
 * @property {string} title
 * @property {string} [help] explains what the section shows
 * @property {string} [kind] class of the section
 * @property {(query: URLSearchParams) => Request} request
 * @property {boolean} [csv] the request has a form as CSV
 * @property {string} [name] of exported files
 * @property {string[]} [shows] names in the query that change the drawing but not the request
 * @property {(data: D, query: URLSearchParams) => Children} draw
 * @property {(data: D) => void} [loaded]
 * @property {boolean} [themed] false: the drawing follows the theme by itself
 */

/**
 * Adds a section to a view.
 * @template D
 * @param {import("../core/page.js").Page} page
 * @param {PanelOptions<D>} options
 * @returns {{element: HTMLElement, reload: () => void}} reload: loads again and keeps the old content until then
 */
export function panel(page, options) {
  const body = h("div", { class: "panel-body" });
  const menu = exportMenu(options.title);
  const element = h(
    "section",
    { class: `panel ${options.kind ?? ""}`, "aria-label": options.title },
    h(
      "header",
      { class: "panel-head" },
      h("h2", {}, options.title),
      options.help ? h("p", { class: "help" }, options.help) : null,
      menu.element,
    ),
    body,
  );
  /** @type {{data: D, url: string} | null} */
  let shown = null;
  let requested = "";
  let drawn = "";
  let abort = new AbortController();
  page.signal.addEventListener("abort", () => abort.abort());

  const draw = () => {
    if (!shown) return;
    drawn = part(query(), options.shows ?? []);
    try {
      replace(body, options.draw(shown.data, query()));
    } catch (error) {
      console.error(error);
      replace(body, failed(error, load));
    }
  };

  const load = async () => {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    const request = options.request(query());
    requested = apiUrl(request);
    element.setAttribute("aria-busy", "true");
    if (!shown) replace(body, loading());
    try {
      const data = await get(request, signal);
      if (signal.aborted || page.signal.aborted) return;
      shown = { data, url: requested };
      menu.show(request, options.csv ?? false, options.name ?? options.title, data);
      options.loaded?.(data);
      draw();
    } catch (error) {
      if (signal.aborted || page.signal.aborted) return;
      if (shown && shown.url === requested) {
        body.querySelector(".stale")?.remove();
        body.prepend(stale(error, load));
      } else {
        shown = null;
        replace(body, failed(error, load));
      }
    }
    element.removeAttribute("aria-busy");
  };

  page.onQuery(() => {
    if (apiUrl(options.request(query())) !== requested) void load();
    else if (part(query(), options.shows ?? []) !== drawn) draw();
  });
  if (options.themed !== false) addEventListener("theme-change", draw, { signal: page.signal });
  void load();
  return { element, reload: throttled(1500, page.signal, load) };
}
