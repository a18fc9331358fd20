// @ts-check
// The way from a list to the view: links above its title.
import { h } from "../core/dom.js";
import { short } from "./text.js";

/**
 * @param {[string, string | null][]} links addresses and labels
 */
export function crumbs(links) {
  return h(
    "nav",
    { class: "crumbs", "aria-label": "Way to this view" },
    links.flatMap(([href, label], index) => [index ? " › " : null, h("a", { href }, h("bdi", {}, short(label, 60)))]),
  );
}
