// @ts-check
// Changes of the dataset, by server-sent events: one stream for the page.
import { href } from "./url.js";

/** @typedef {import("api").SummaryEvent} SummaryEvent */

/**
 * Calls `changed` with each summary until the signal is aborted. The browser connects again by itself after an error;
 * while the page is hidden there is no stream.
 * @param {string | null} run_id also reports this run
 * @param {AbortSignal} signal
 * @param {(event: SummaryEvent) => void} changed
 * @param {(connected: boolean) => void} [state]
 */
export function listen(run_id, signal, changed, state = () => {}) {
  /** @type {EventSource | null} */
  let stream = null;
  const close = () => {
    stream?.close();
    stream = null;
  };
  const open = () => {
    if (stream || document.hidden || signal.aborted) return;
    stream = new EventSource(href("/api/v1/events", { run_id }));
    stream.addEventListener("open", () => state(true));
    stream.addEventListener("error", () => state(false));
    stream.addEventListener("summary", (event) => changed(JSON.parse(/** @type {MessageEvent} */ (event).data)));
    stream.addEventListener("signed_out", () => {
      close();
      dispatchEvent(new Event("signed-out"));
    });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()), { signal });
  signal.addEventListener("abort", close);
  open();
}

/**
 * Returns a function that calls `work` at once and then at most once in `pause_ms`.
 * @param {number} pause_ms
 * @param {AbortSignal} signal
 * @param {() => void} work
 */
export function throttled(pause_ms, signal, work) {
  let last = 0;
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return () => {
    if (timer || signal.aborted) return;
    const run = () => {
      timer = 0;
      last = Date.now();
      work();
    };
    timer = setTimeout(run, Math.max(0, last + pause_ms - Date.now()));
  };
}
