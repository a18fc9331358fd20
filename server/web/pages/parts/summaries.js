// @ts-check
// Tells how far the summaries of an older dataset are computed.
import { h } from "../core/dom.js";
import { count } from "../core/format.js";

/** @param {import("api").Summaries} summaries */
export function summariesNote(summaries) {
  if (summaries.complete) return null;
  const { done_attempts, total_attempts } = summaries;
  return h(
    "p",
    { class: "banner", role: "status" },
    `The server is reading the dataset: ${count(done_attempts)} of ${
      count(total_attempts)
    } attempts. The oldest are not shown yet; the page updates itself.`,
  );
}
