// @ts-check
// The answer to an address that is no view.
import { h } from "../core/dom.js";
import { empty } from "../parts/states.js";

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  page.title("Not found");
  page.root.append(
    h("h1", {}, "Not found"),
    empty(
      "This address is no page",
      "Look in ",
      h("a", { href: "/runs" }, "all runs"),
      " or go to the ",
      h("a", { href: "/" }, "overview"),
      ".",
    ),
  );
}
