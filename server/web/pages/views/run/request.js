// @ts-check
// Requests for parts of a run: of the sender and the attempts in the URL.
import { senderOf } from "../../parts/links.js";

/**
 * @param {import("../../core/page.js").Page} page
 * @param {string} part
 * @param {URLSearchParams} query
 * @param {import("../../core/url.js").Values} [more]
 */
export function runPart(page, part, query, more = {}) {
  const attempt = query.getAll("attempt");
  return {
    path: `/runs/${page.path[0]}/${part}`,
    values: { ...senderOf(query), ...(attempt.length ? { attempt } : {}), ...more },
  };
}

/**
 * Returns the key of the run in the URL, for links.
 * @param {import("../../core/page.js").Page} page
 * @param {URLSearchParams} query
 */
export function runOf(page, query) {
  return { run_id: page.path[0], ...senderOf(query) };
}
