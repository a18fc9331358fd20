// @ts-check
// Links that save the data of a section as CSV and JSON.
import { apiUrl } from "../core/api.js";
import { h, replace } from "../core/dom.js";

/**
 * Returns a file name without characters that file systems refuse.
 * @param {string} name
 * @param {string} extension
 */
function fileName(name, extension) {
  return `${name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "data"}.${extension}`;
}

/**
 * Saves a text as a file.
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Returns a table of names and values of a JSON value as CSV: "runs.0.best_ms,1.25".
 * @param {unknown} value
 */
export function flatCsv(value) {
  /** @type {string[]} */
  const lines = ["name,value"];
  const quote = (/** @type {string} */ text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  /** @param {string} name @param {unknown} value */
  const walk = (name, value) => {
    if (value !== null && typeof value === "object") {
      for (const [key, inner] of Object.entries(value)) walk(name ? `${name}.${key}` : key, inner);
    } else {
      lines.push(`${quote(name)},${value === null ? "" : quote(String(value))}`);
    }
  };
  walk("", value);
  return `${lines.join("\r\n")}\r\n`;
}

/** @param {string} title of the section */
export function exportMenu(title) {
  const element = h("div", { class: "export", role: "group", "aria-label": `Export ${title}` });
  return {
    element,
    /**
     * @param {import("../core/api.js").Request} request
     * @param {boolean} csv the server writes the request as CSV
     * @param {string} name
     * @param {unknown} data
     */
    show(request, csv, name, data) {
      const file = fileName(name, "csv");
      const { cursor: _, limit: __, ...values } = request.values ?? {};
      const whole = { path: request.path, values };
      replace(
        element,
        csv ? h("a", { href: apiUrl(whole, { format: "csv" }), download: file, "data-focus": "csv" }, "CSV") : h("button", {
          type: "button",
          class: "link",
          "data-focus": "csv",
          onclick: () => save(file, "text/csv", flatCsv(data)),
        }, "CSV"),
        h("a", { href: apiUrl(request), download: fileName(name, "json"), "data-focus": "json" }, "JSON"),
      );
    },
  };
}
