// @ts-check
// The bar at the top of every page: navigation, theme, session.
import { signOut } from "../core/api.js";
import { h, replace } from "../core/dom.js";
import { isDark, toggleTheme } from "../core/theme.js";
import { short } from "./text.js";

/** Address, label, and the beginnings of the paths that belong to it. */
const PLACES = /** @type {[string, string, RegExp][]} */ ([
  ["/", "Overview", /^\/$/],
  ["/runs", "Runs", /^\/(runs|run|attempt)\b/],
  ["/kernels", "Kernels", /^\/kernels?\b/],
  ["/regressions", "Regressions", /^\/regressions/],
  ["/compare", "Compare", /^\/compare/],
  ["/rejects", "Rejects", /^\/rejects/],
  ["/producers", "Producers", /^\/producers/],
  ["/cache", "Cache", /^\/cache/],
  ["/tokens", "Tokens", /^\/tokens/],
]);

async function endSession() {
  await signOut().catch(() => {});
  dispatchEvent(new Event("signed-out"));
}

function themeButton() {
  const label = () => `Switch to the ${isDark() ? "light" : "dark"} theme`;
  const button = h("button", {
    type: "button",
    class: "icon theme",
    "aria-label": label(),
    title: label(),
    onclick: toggleTheme,
  });
  addEventListener("theme-change", () => {
    button.title = label();
    button.setAttribute("aria-label", label());
  });
  return button;
}

/**
 * @param {HTMLElement} element
 * @param {import("api").Session | null} session
 */
export function drawTop(element, session) {
  const links = PLACES.map(([href, label]) => h("li", {}, h("a", { href }, label)));
  const signed_in = session?.sign_in_required && session.signed_in;
  replace(
    element,
    h("a", { class: "brand", href: "/" }, "autotune telemetry"),
    h("nav", { class: "places", "aria-label": "Pages" }, h("ul", {}, links)),
    h(
      "div",
      { class: "tools" },
      signed_in ? h("span", { class: "who" }, "token ", h("bdi", {}, short(session.name, 30))) : null,
      signed_in ? h("button", { type: "button", class: "link", onclick: endSession }, "Sign out") : null,
      themeButton(),
      h("a", { href: "/about" }, "About"),
    ),
  );
  drawTop.current(element);
}

/**
 * Marks the link of the current page.
 * @param {HTMLElement} element
 */
drawTop.current = (element) => {
  element.querySelectorAll(".places a").forEach((anchor, index) => {
    if (PLACES[index][2].test(location.pathname)) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  });
};
