// @ts-check
// Shows points in time, changes and states.
import { h } from "../core/dom.js";
import { ago, change, count, UNKNOWN, utc } from "../core/format.js";

/**
 * Returns a point in time relative to now; its title is the absolute time.
 * @param {number | null | undefined} unix_ms
 */
export function when(unix_ms) {
  if (unix_ms === null || unix_ms === undefined) return h("span", { class: "unknown" }, UNKNOWN);
  return h("time", { datetime: utc(unix_ms), title: utc(unix_ms) }, ago(unix_ms));
}

/** @type {{[state: string]: [string, string]}} */
const STATES = {
  open: ["running", "The attempt has not ended."],
  complete: ["complete", "The tuner reported the end of its search."],
  abandoned: ["abandoned", "The attempt ended without its last record: the job was killed or failed."],
  unspecified: ["not reported", "The producer does not report states."],
};

/** @param {string} state */
export function stateBadge(state) {
  const [label, title] = STATES[state] ?? [state, ""];
  return h("span", { class: `badge state-${STATES[state] ? state : "unspecified"}`, title }, label);
}

/**
 * Returns a change of a time with its confidence interval; the text says the direction, not only the colour.
 * @param {number | null | undefined} ratio
 * @param {{low?: number | null, high?: number | null, significant?: boolean | null}} interval
 */
export function changeBadge(ratio, { low, high, significant } = {}) {
  if (ratio === null || ratio === undefined) return h("span", { class: "unknown" }, UNKNOWN);
  const sure = significant ??
    (low !== null && low !== undefined && high !== null && high !== undefined ? low > 1 || high < 1 : null);
  const kind = sure === false ? "same" : ratio > 1 ? "slower" : ratio < 1 ? "faster" : "same";
  const range = low !== null && low !== undefined && high !== null && high !== undefined
    ? `95 % confidence: ${change(low)} to ${change(high)}`
    : "no confidence interval";
  const arrow = kind === "slower" ? "▲ " : kind === "faster" ? "▼ " : "";
  return h(
    "span",
    { class: `change ${kind}`, title: `${kind === "same" ? "no significant difference" : kind}; ${range}` },
    arrow,
    change(ratio),
  );
}

/**
 * Returns a list of names and values.
 * @param {[string, import("../core/dom.js").Child][]} pairs
 */
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/**
 * Returns a row of large numbers.
 * @param {[string, import("../core/dom.js").Child, string?][]} tiles name, value, explanation
 */
export function tiles(tiles) {
  return h(
    "dl",
    { class: "tiles" },
    tiles.map(([name, value, note]) =>
      h(
        "div",
        { class: "tile" },
        h("dt", { title: note }, name),
        h("dd", {}, value),
        note ? h("dd", { class: "note" }, note) : null,
      )
    ),
  );
}

/**
 * Returns a bar that fills a share of its width, with a text.
 * @param {number | null} share
 * @param {string} text
 * @param {string} [kind]
 */
export function bar(share, text, kind = "plain") {
  const fill = h("span", { class: `fill ${kind}` });
  fill.style.width = `${Math.max(0, Math.min(1, share ?? 0)) * 100}%`;
  return h("span", { class: "bar" }, h("span", { class: "track" }, fill), h("span", { class: "bar-text" }, text));
}

/**
 * Returns a note for what an answer leaves out.
 * @param {number} left_out
 * @param {string} noun
 */
export function leftOut(left_out, noun) {
  return left_out > 0 ? h("p", { class: "note" }, `${count(left_out)} more ${noun} are not shown.`) : null;
}

/**
 * Returns a note for an answer that did not read all measurements of a run.
 * @param {boolean} cut
 */
export function cutNote(cut) {
  return cut
    ? h("p", { class: "note" }, "The run has more than 200,000 measurements; this section is computed from the first 200,000.")
    : null;
}
