// @ts-check
// The only Trusted Types policy of the pages. Libraries may empty an element; markup from texts is refused everywhere.

/** @type {any} */
const types = /** @type {any} */ (globalThis).trustedTypes;

types?.createPolicy("default", {
  /** @param {string} text */
  createHTML(text) {
    if (text === "") return "";
    throw new TypeError("markup from texts is not allowed");
  },
  /** @param {string} url */
  createScriptURL(url) {
    if (url === "/assets/views/graph/layout_worker.js") return url;
    throw new TypeError(`script ${url} is not allowed`);
  },
});
