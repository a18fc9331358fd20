// @ts-check
// Addresses of the views of runs, configs, attempts, kernels and their comparison.
import { href } from "../core/url.js";

/** @typedef {{run_id: string, sender?: string | null}} RunKey */

/**
 * Returns the address of a run; a run is identified by its id and its sender.
 * @param {RunKey} run
 * @param {import("../core/url.js").Values} [more]
 */
export function runHref({ run_id, sender }, more = {}) {
  return href(`/run/${run_id}`, { ...(sender === undefined ? {} : { sender: sender ?? "" }), ...more });
}

/**
 * @param {RunKey} run
 * @param {string} config_id
 */
export function configHref({ run_id, sender }, config_id) {
  return href(`/run/${run_id}/config/${config_id}`, sender === undefined ? {} : { sender: sender ?? "" });
}

/** @param {string} attempt_id */
export function attemptHref(attempt_id) {
  return `/attempt/${attempt_id}`;
}

/** @param {import("api").Named} kernel */
export function kernelHref(kernel) {
  return href("/kernel", { kernel: kernel.filter });
}

/** @typedef {import("api").Named} Named */

/**
 * Returns the address of the history of a kernel at one cell of its matrix.
 * @param {{kernel: Named, shapes: Named, dtypes: Named, hardware: Named}} cell
 */
export function historyHref({ kernel, shapes, dtypes, hardware }) {
  return href("/kernel/history", {
    kernel: kernel.filter,
    shapes: shapes.filter,
    dtypes: dtypes.filter,
    hardware: hardware.filter,
  });
}

/**
 * Returns the values that select a run for a request: `sender` of the URL, if it has one.
 * @param {URLSearchParams} query
 */
export function senderOf(query) {
  return query.has("sender") ? { sender: query.get("sender") } : {};
}
