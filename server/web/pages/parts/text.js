// @ts-check
// Shows texts of the dataset, all of which are hostile: isolated from the direction of their surroundings, without
// invisible characters, and cut where they are long.
import { copyText } from "../core/clipboard.js";
import { announce, h } from "../core/dom.js";
import { UNKNOWN } from "../core/format.js";

const CUT = 120;
// Controls except tab and newline, directions, zero widths, tags, surrogates alone, code points without a meaning.
const INVISIBLE = /(?![\t\n])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
// More than four combining marks in a row grow out of their line.
const STACKED = /(\p{M}{4})\p{M}+/gu;

/**
 * Returns the text with the code points of its invisible characters: "a‮b" is "a⟨U+202E⟩b".
 * @param {string} text
 */
export function visible(text) {
  return text
    .replace(INVISIBLE, (c) => `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`)
    .replace(STACKED, "$1⟨…⟩");
}

/**
 * Returns the beginning of a text; a pair of surrogates stays together.
 * @param {string} text
 * @param {number} length
 */
function beginning(text, length) {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

/**
 * Returns the beginning of a text as plain text, for titles, options and charts.
 * @param {string | null | undefined} text
 * @param {number} [length]
 */
export function short(text, length = 60) {
  if (text === null || text === undefined) return UNKNOWN;
  if (text === "") return "(empty)";
  const characters = visible(beginning(text, length * 2)).replace(/\s+/g, " ");
  return characters.length > length || text.length > length * 2 ? `${beginning(characters, length - 1)}…` : characters;
}

/**
 * Returns a text; a button shows the rest of a long one.
 * @param {string | null | undefined} text null: not known
 * @param {{length?: number, code?: boolean}} options code: in a fixed width
 * @returns {HTMLElement}
 */
export function text(text, { length = CUT, code = false } = {}) {
  if (text === null || text === undefined) return h("span", { class: "unknown" }, UNKNOWN);
  if (text === "") return h("span", { class: "unknown" }, "(empty)");
  const element = h("bdi", { class: `text${code ? " code" : ""}${text.length > 14 ? " long" : ""}` });
  if (text.length <= length) {
    element.append(visible(text));
    return element;
  }
  const more = h(
    "button",
    { type: "button", class: "link", onclick: () => element.replaceChildren(visible(text)) },
    "show all",
  );
  element.append(visible(beginning(text, length)), "… ", more);
  return element;
}

/**
 * Returns a link with a text of the dataset.
 * @param {string} href
 * @param {string | null | undefined} label
 * @param {number} [length]
 */
export function link(href, label, length = 60) {
  return h("a", { href, title: label && label.length > length ? short(label, 300) : null }, h("bdi", {}, short(label, length)));
}

/**
 * Returns a button that copies a text.
 * @param {string} text
 * @param {string} what names it: "config"
 */
export function copyButton(text, what) {
  const copy = async () => {
    try {
      await copyText(text);
    } catch {
      announce(`${what} could not be copied; select the text instead`);
      return;
    }
    announce(`${what} copied`);
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1500);
  };
  const button = h("button", {
    type: "button",
    class: "copy",
    title: `Copy ${what}`,
    "aria-label": `Copy ${what}`,
    onclick: copy,
  });
  return button;
}

/**
 * Returns the beginning of an id with a button that copies the whole id.
 * @param {string | null | undefined} id
 * @param {string} what
 * @param {string | null} [href]
 */
export function shortId(id, what, href = null) {
  if (!id) return h("span", { class: "unknown" }, UNKNOWN);
  const label = h("span", { class: "code", title: short(id, 100) }, short(id.slice(0, 8), 20));
  return h("span", { class: "id" }, href ? h("a", { href }, label) : label, copyButton(id, what));
}

/**
 * Returns a block of code with a button that copies it.
 * @param {string} text
 * @param {string} what
 */
export function codeBlock(text, what) {
  const pre = h("pre", { class: "code-block", tabindex: 0, role: "group", "aria-label": what }, h("code", {}, visible(text)));
  return h("div", { class: "copyable" }, pre, copyButton(text, what));
}
