// @ts-check
// Controls that change values in the URL.
import { h } from "../core/dom.js";
import { count } from "../core/format.js";
import { change, go, here, href, query } from "../core/url.js";
import { short } from "./text.js";

/** @typedef {{label: string | null, filter: string, runs?: number}} Choice */

let serial = 0;

/**
 * @param {string} label
 * @param {HTMLElement} control
 */
function labelled(label, control) {
  control.id ||= `control-${++serial}`;
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control);
}

/**
 * Returns a list of choices for a value in the URL. A value that is not in the list is shown too.
 * @param {string} label
 * @param {string} name in the URL
 * @param {Choice[]} choices
 * @param {{any?: string | null, initial?: string, resets?: string[]}} options any: text of "no filter", null: there is always a
 *     value; initial: value without one in the URL; resets: names that a change removes from the URL
 */
export function choice(label, name, choices, { any = "any", initial = "", resets = ["cursor"] } = {}) {
  const value = query().get(name);
  const option = (/** @type {string} */ value, /** @type {string} */ text) => h("option", { value }, text);
  const options = choices.map((one) =>
    option(one.filter, `${short(one.label)}${one.runs === undefined ? "" : ` (${count(one.runs)})`}`)
  );
  if (value !== null && !choices.some((one) => one.filter === value)) options.unshift(option(value, short(value)));
  // An empty text is a value, too: "v" before values tells it from "any".
  options.forEach((one) => one.setAttribute("value", `v${one.getAttribute("value")}`));
  if (any !== null) options.unshift(option("", any));
  const select = h("select", { "data-focus": `choice-${name}` }, options);
  select.value = value === null ? (any === null ? `v${initial}` : "") : `v${value}`;
  select.addEventListener("change", () => {
    const values = query();
    [name, ...resets].forEach((reset) => values.delete(reset));
    if (select.value !== "" && select.value !== `v${initial}`) values.set(name, select.value.slice(1));
    go(href(location.pathname, values));
  });
  return labelled(label, select);
}

/**
 * Returns a field for a text in the URL.
 * @param {string} label
 * @param {string} name
 * @param {string} placeholder
 */
export function search(label, name, placeholder) {
  const input = h("input", {
    type: "search",
    maxlength: 200,
    placeholder,
    spellcheck: "false",
    autocomplete: "off",
    "data-focus": `search-${name}`,
  });
  input.value = query().get(name) ?? "";
  const apply = () =>
    change({ [name]: input.value.trim(), cursor: null }, { replace: (query().get(name) ?? "") !== "" && input.value !== "" });
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 300);
  });
  input.addEventListener("change", apply);
  return labelled(label, input);
}

/**
 * Returns a field for a day in UTC; the URL has its beginning, or its end, in milliseconds.
 * @param {string} label
 * @param {"since" | "until"} name
 */
export function day(label, name) {
  const input = h("input", { type: "date", "data-focus": `day-${name}` });
  const value = Number(query().get(name) ?? NaN);
  const shift = name === "until" ? 86_400_000 : 0;
  if (!Number.isNaN(value) && Math.abs(value) < 8e15) {
    input.value = new Date(value - (shift ? 1 : 0)).toISOString().slice(0, 10);
  }
  input.addEventListener("change", () => {
    const time = input.value ? Date.parse(`${input.value}T00:00:00Z`) + shift : null;
    change({ [name]: time, cursor: null });
  });
  return labelled(label, input);
}

/**
 * Returns a switch for a value in the URL: "1" or absent.
 * @param {string} label
 * @param {string} name
 */
export function toggle(label, name) {
  const input = h("input", { type: "checkbox", id: `control-${++serial}`, "data-focus": `toggle-${name}` });
  input.checked = query().get(name) === "1";
  input.addEventListener("change", () => change({ [name]: input.checked ? "1" : null }));
  return h("div", { class: "field check" }, input, h("label", { for: input.id }, label));
}

/**
 * Returns a link that removes all of these names from the URL, if one of them is there.
 * @param {string[]} names
 */
export function clearLink(names) {
  const values = query();
  if (!names.some((name) => values.has(name))) return null;
  const clear = () => change(Object.fromEntries([...names, "cursor"].map((name) => [name, null])));
  return h("button", { type: "button", class: "link clear", onclick: clear, "data-focus": "clear" }, "Clear filters");
}

/**
 * Returns tabs: links that set a value in the URL.
 * @param {string} label
 * @param {string} name
 * @param {[string, string][]} tabs value and label; the first is the default
 */
export function tabs(label, name, tabs) {
  const current = query().get(name) ?? tabs[0][0];
  return h(
    "nav",
    { class: "tabs", "aria-label": label },
    tabs.map(([value, title], index) => {
      const target = here({ [name]: index > 0 ? value : null });
      return h("a", { href: target, "aria-current": value === current ? "page" : null, "data-focus": `tab-${value}` }, title);
    }),
  );
}
