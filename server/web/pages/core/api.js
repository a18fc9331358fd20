// @ts-check
// Requests to /api/v1. No view keeps an answer after the view has ended.
import { href } from "./url.js";

/** @typedef {import("./url.js").Values} Values */
/** @typedef {{path: string, values?: Values}} Request */

/** An answer that is no success; `status` 0: no answer. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {number} [retry_after_s]
   */
  constructor(status, message, retry_after_s = 0) {
    super(message);
    this.status = status;
    this.retry_after_s = retry_after_s;
  }
}

/**
 * Returns the URL of a request, for links that download.
 * @param {Request} request
 * @param {Values} [more]
 */
export function apiUrl({ path, values }, more = {}) {
  return href(`/api/v1${path}`, { ...values, ...more });
}

/** @param {Response} response */
async function errorOf(response) {
  const text = await response.text();
  let message = "";
  try {
    message = JSON.parse(text).error.message;
  } catch {
    message = `the server answered with status ${response.status}`;
  }
  return new ApiError(response.status, message, Number(response.headers.get("Retry-After") ?? 0));
}

/**
 * @param {string} url
 * @param {RequestInit} options
 * @returns {Promise<any>}
 */
async function request(url, options) {
  let response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, "the server does not answer");
  }
  if (response.status === 401 && !url.includes("/session")) dispatchEvent(new Event("signed-out"));
  if (!response.ok) throw await errorOf(response);
  return response.json();
}

/**
 * Returns the answer to a request.
 * @param {Request} wanted
 * @param {AbortSignal} [signal]
 */
export function get(wanted, signal) {
  return request(apiUrl(wanted), { signal });
}

const FROM_PAGE = { "X-Requested-With": "telemetry-web" };

/** @returns {Promise<import("api").Session>} */
export function session() {
  return request("/api/v1/session", {});
}

/**
 * @param {string} token
 * @returns {Promise<import("api").Session>}
 */
export function signIn(token) {
  const headers = { ...FROM_PAGE, "Content-Type": "application/json" };
  return request("/api/v1/session", { method: "POST", headers, body: JSON.stringify({ token }) });
}

export function signOut() {
  return request("/api/v1/session", { method: "DELETE", headers: FROM_PAGE });
}
