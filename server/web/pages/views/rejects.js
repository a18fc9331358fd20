// @ts-check
// Refused records, with reason and sender.
import { bytes, count } from "../core/format.js";
import { h } from "../core/dom.js";
import { choice, clearLink, day } from "../parts/filters.js";
import { mountList } from "../parts/list_view.js";
import { empty } from "../parts/states.js";
import { shortId, text } from "../parts/text.js";
import { when } from "../parts/values.js";

const FILTERS = ["reason", "sender", "origin", "since", "until"];

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  /** @type {import("../parts/list_view.js").ListOptions<import("api").RejectList>} */
  const options = {
    title: "Rejects",
    help: "Records that the collector refused; each is kept as it came. Nothing is dropped silently.",
    path: "/rejects",
    noun: "rejects",
    filters: FILTERS,
    columns: [
      { title: "Received", cell: (row) => when(row.received_unix_ms) },
      { title: "Reason", head: true, cell: (row) => text(row.reason, { length: 60 }) },
      { title: "Message", cell: (row) => text(row.message, { length: 140 }) },
      { title: "Source", cell: (row) => [text(row.source, { length: 50 }), row.line ? `:${count(row.line)}` : ""] },
      { title: "Origin", cell: (row) => text(row.origin.label, { length: 40 }) },
      { title: "Sender", cell: (row) => text(row.sender, { length: 30 }) },
      { title: "Client", narrow: true, cell: (row) => text(row.client, { length: 30 }) },
      { title: "Producer", narrow: true, cell: (row) => shortId(row.producer_id, "producer id") },
      { title: "Size", number: true, cell: (row) => bytes(row.raw_bytes) },
      { title: "Record", cell: (row) => h("a", { href: `/rejects/${row.reject}` }, `show ${row.reject}`) },
    ],
    controls: (data) => [
      choice("Reason", "reason", data.reasons.map((one) => ({ label: one.reason, filter: one.reason, runs: one.count }))),
      day("From (UTC)", "since"),
      day("To (UTC)", "until"),
      clearLink(FILTERS),
    ],
    empty: (
      filtered,
    ) => (filtered
      ? empty("No reject matches these filters", clearLink(FILTERS))
      : empty("No record was refused", "There is nothing to do.")),
  };
  mountList(page, options);
}
