// @ts-check
// The states of a view without data: each says what to do next.
import { h } from "../core/dom.js";
import { ApiError } from "../core/api.js";
import { visible } from "./text.js";

/** @param {string} [label] */
export function loading(label = "Loading") {
  return h(
    "div",
    { class: "state loading", role: "status" },
    h("span", { class: "spinner", "aria-hidden": "true" }),
    `${label}…`,
  );
}

/**
 * @param {string} title
 * @param {import("../core/dom.js").Children[]} next what to do
 */
export function empty(title, ...next) {
  return h("div", { class: "state empty" }, h("p", { class: "state-title" }, title), h("p", {}, ...next));
}

/**
 * Returns a note above data that could not be loaded again.
 * @param {unknown} error
 * @param {() => void} retry
 */
export function stale(error, retry) {
  const message = visible((error instanceof Error ? error.message : String(error)).slice(0, 300));
  const again = h("button", { type: "button", class: "link", onclick: retry }, "Try again");
  return h("p", { class: "banner stale", role: "status" }, "Not up to date: ", h("bdi", {}, message), ". ", again);
}

/** @param {number} status */
function advice(status) {
  if (status === 0) return "Check that telemetry-web runs and that this machine reaches it. The page keeps its state.";
  if (status === 400) return "The link contains a filter that the server does not know. Remove filters, or go back.";
  if (status === 401) return "Sign in to go on.";
  if (status === 403) return "The token may not read this. Ask an operator for a token with the reader role.";
  if (status === 404) return "It may have been deleted, or not yet received. Look for it in the list of runs.";
  if (status === 429 || status === 503) {
    return "The server is busy or its database is not available. Try again in a few seconds.";
  }
  return "Try again. If it stays, the log of telemetry-web has the reason.";
}

/**
 * @param {unknown} error
 * @param {() => void} retry
 */
export function failed(error, retry) {
  const status = error instanceof ApiError ? error.status : -1;
  const message = error instanceof Error ? error.message : String(error);
  return h(
    "div",
    { class: "state failed", role: "alert" },
    h("p", { class: "state-title" }, status === 404 ? "Not found" : "This could not be loaded"),
    h("p", {}, h("bdi", {}, visible(message.slice(0, 500)))),
    h("p", {}, advice(status)),
    h(
      "p",
      {},
      h("button", { type: "button", onclick: retry }, "Try again"),
      " ",
      status === 404 ? h("a", { href: "/runs" }, "All runs") : null,
    ),
  );
}
