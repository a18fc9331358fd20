// @ts-check
// What a view gets from the router.
import { query } from "./url.js";

/**
 * @typedef {object} Page
 * @property {HTMLElement} root the element that the view fills
 * @property {string[]} path the variable parts of the path
 * @property {AbortSignal} signal aborted when the view ends
 * @property {(listener: (query: URLSearchParams) => void) => void} onQuery calls the listener when the query of the URL changes
 * @property {(title: string) => void} title sets the title of the window
 */

/**
 * @typedef {object} View
 * @property {(page: Page) => void} mount
 */

/**
 * Returns a page and functions that tell it of changes. A part of a view is a page of its own, and ends with its parent.
 * @param {HTMLElement} root
 * @param {string[]} path
 * @param {AbortSignal} [parent]
 */
export function newPage(root, path, parent) {
  const end = new AbortController();
  parent?.addEventListener("abort", () => end.abort(), { signal: end.signal });
  /** @type {((query: URLSearchParams) => void)[]} */
  const listeners = [];
  /** @type {Page} */
  const page = {
    root,
    path,
    signal: end.signal,
    onQuery: (listener) => listeners.push(listener),
    title: (title) => {
      document.title = `${title} · autotune telemetry`;
    },
  };
  return {
    page,
    changed: () => listeners.forEach((listener) => listener(query())),
    end: () => end.abort(),
  };
}
