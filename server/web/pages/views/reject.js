// @ts-check
// One refused record.
import { h } from "../core/dom.js";
import { count } from "../core/format.js";
import { crumbs } from "../parts/crumbs.js";
import { panel } from "../parts/panel.js";
import { storedBytes } from "../parts/stored_bytes.js";
import { shortId, text } from "../parts/text.js";
import { facts, when } from "../parts/values.js";

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  const [number] = page.path;
  page.title(`Reject ${number}`);
  const record = panel(page, {
    title: "Record",
    name: `reject-${number}`,
    request: () => ({ path: `/rejects/${number}` }),
    draw: (/** @type {import("api").RejectDetail} */ data) => [
      facts([
        ["Reason", text(data.reason, { length: 300 })],
        ["Message", text(data.message, { length: 600 })],
        ["Received", when(data.received_unix_ms)],
        ["Source", h("span", {}, text(data.source, { length: 300 }), data.line ? `:${count(data.line)}` : "")],
        ["Origin", text(data.origin.label)],
        ["Sender", text(data.sender)],
        ["Client", text(data.client)],
        ["Producer", shortId(data.producer_id, "producer id")],
      ]),
      storedBytes(data.raw, "record"),
    ],
  });
  page.root.append(
    crumbs([["/rejects", "Rejects"]]),
    h("h1", {}, `Reject ${number}`),
    record.element,
  );
}
