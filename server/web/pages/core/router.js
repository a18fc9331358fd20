// @ts-check
// Shows the view of the current URL.
import { newPage } from "./page.js";
import { h } from "./dom.js";
import { failed } from "../parts/states.js";

/** @typedef {[RegExp, () => Promise<import("./page.js").View>]} Route */

/**
 * Follows links of this site without loading the page again.
 * @param {MouseEvent} event
 */
function follow(event) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = event.target instanceof Element ? event.target.closest("a") : null;
  if (!(anchor instanceof HTMLAnchorElement) || anchor.target || anchor.hasAttribute("download")) return;
  const url = new URL(anchor.href, location.href);
  if (url.origin !== location.origin || url.hash || /^\/(api|assets)\//.test(url.pathname)) return;
  event.preventDefault();
  if (url.href === location.href) return;
  history.pushState(null, "", url);
  dispatchEvent(new PopStateEvent("popstate", { state: null }));
}

/**
 * Shows views in `main` from now on.
 * @param {HTMLElement} main
 * @param {Route[]} routes
 */
export function startRouter(main, routes) {
  /** @type {{path: string, changed: () => void, end: () => void} | null} */
  let current = null;

  const show = async () => {
    const path = location.pathname.replace(/(.)\/$/, "$1");
    if (current?.path === path) return current.changed();
    const first = current === null;
    current?.end();
    const match = routes.map(([pattern, load]) => ({ found: pattern.exec(path), load })).find(({ found }) => found);
    const root = h("div", { class: "view", "data-path": path });
    const { page, changed, end } = newPage(root, (match?.found ?? []).slice(1).map((text) => decodeURIComponent(text)));
    current = { path, changed, end };
    dispatchEvent(new Event("view-change"));
    try {
      const view = await (match ? match.load() : routes[routes.length - 1][1]());
      if (page.signal.aborted) return;
      view.mount(page);
    } catch (error) {
      console.error(error);
      root.replaceChildren(failed(error, () => location.reload()));
    }
    main.replaceChildren(root);
    if (!first) {
      scrollTo(0, 0);
      main.focus({ preventScroll: true });
    }
  };

  document.addEventListener("click", follow);
  addEventListener("popstate", () => void show());
  return {
    show: () => void show(),
    /** Ends the view, so that `show` starts it again. */
    reset: () => {
      current?.end();
      current = null;
    },
  };
}
