// @ts-check
// Creates elements. A string becomes a text node; no function here parses markup.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Child | Child[]} Children */
/** @typedef {string | number | boolean | null | undefined | EventListener | ((event: any) => void)} Property */
/** @typedef {{[name: string]: Property}} Properties */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Sets a property: `onclick` and the like add a listener; true and false set and remove an attribute.
 * @param {Element} element
 * @param {string} name
 * @param {Properties[string]} value
 */
function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") {
    if (!name.startsWith("on")) throw new TypeError(`${name} is no event`);
    element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
  } else if (name === "style" || name.startsWith("on")) {
    throw new TypeError(`attribute ${name} is not allowed`);
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * Appends children; strings and numbers become text nodes.
 * @template {Node & ParentNode} T
 * @param {T} parent
 * @param {Children[]} children
 * @returns {T}
 */
export function append(parent, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
  return parent;
}

/**
 * Returns a new element: h("a", {href}, "text", [more]).
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Properties} [properties]
 * @param {Children[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) set(element, name, value);
  return append(element, ...children);
}

/**
 * Returns a new SVG element.
 * @param {string} tag
 * @param {Properties} [properties]
 * @param {Children[]} children
 * @returns {SVGElement}
 */
export function svg(tag, properties = {}, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(properties)) set(element, name, value);
  return append(element, ...children);
}

/**
 * Replaces the children of an element. The focus stays on the element with the same `data-focus`.
 * @param {HTMLElement} parent
 * @param {Children[]} children
 */
export function replace(parent, ...children) {
  const active = document.activeElement;
  const key = active instanceof HTMLElement && parent.contains(active) ? active.dataset.focus : undefined;
  parent.replaceChildren();
  append(parent, ...children);
  if (key) {
    const same = [...parent.querySelectorAll("[data-focus]")].find((e) => /** @type {HTMLElement} */ (e).dataset.focus === key);
    if (same instanceof HTMLElement) same.focus({ preventScroll: true });
  }
}

/**
 * Says a short text to screen readers.
 * @param {string} text
 */
export function announce(text) {
  const status = document.getElementById("status");
  if (status) status.textContent = text;
}
