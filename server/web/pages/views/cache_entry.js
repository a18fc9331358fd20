// @ts-check
// One entry of the cache, with its value.
import { h } from "../core/dom.js";
import { attemptHref, runHref } from "../parts/links.js";
import { crumbs } from "../parts/crumbs.js";
import { panel } from "../parts/panel.js";
import { storedBytes } from "../parts/stored_bytes.js";
import { shortId, text } from "../parts/text.js";
import { facts, when } from "../parts/values.js";

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  const [number] = page.path;
  page.title(`Cache entry ${number}`);
  const entry = panel(page, {
    title: "Entry",
    name: `cache-entry-${number}`,
    request: () => ({ path: `/cache/${number}` }),
    draw: (/** @type {import("api").CacheDetail} */ data) => [
      facts([
        ["Key", text(data.key, { length: 300, code: true })],
        ["Namespace", text(data.namespace)],
        ["Hardware", text(data.hardware)],
        ["Versions", text(data.versions, { code: true })],
        ["Sender", text(data.sender)],
        ["Stored", when(data.stored_unix_ms)],
        ["Run", shortId(data.run_id, "run id", data.run_id ? runHref({ run_id: data.run_id }) : null)],
        [
          "Attempt",
          shortId(data.attempt_id, "attempt id", data.attempt_id && data.run_id ? attemptHref(data.attempt_id) : null),
        ],
      ]),
      storedBytes(data.value, "value"),
    ],
  });
  page.root.append(
    crumbs([["/cache", "Cache"]]),
    h("h1", {}, `Cache entry ${number}`),
    entry.element,
  );
}
