// @ts-check
// Who sends: each producer has an ordered log.
import { count } from "../core/format.js";
import { clearLink, search } from "../parts/filters.js";
import { mountList } from "../parts/list_view.js";
import { empty } from "../parts/states.js";
import { shortId, text } from "../parts/text.js";
import { when } from "../parts/values.js";

const FILTERS = ["sender", "q"];

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  /** @type {import("../parts/list_view.js").ListOptions<import("api").ProducerList>} */
  const options = {
    title: "Producers",
    help: "Each spool of a machine that sends is a producer. A higher epoch is a later process on the same spool.",
    path: "/producers",
    noun: "producers",
    filters: FILTERS,
    sort: "-last_opened",
    columns: [
      { title: "Producer", head: true, cell: (row) => shortId(row.producer_id, "producer id") },
      { title: "Sender", cell: (row) => text(row.sender, { length: 40 }) },
      { title: "Client", cell: (row) => text(row.client, { length: 60 }) },
      {
        title: "Committed records",
        number: true,
        cell: (row) => count(row.committed_seq),
        note: "sequence number up to which all records are committed",
      },
      { title: "Epoch", number: true, cell: (row) => count(row.epoch) },
      { title: "First connection", cell: (row) => when(row.first_opened_unix_ms) },
      { title: "Newest connection", sort: "last_opened", down: true, cell: (row) => when(row.last_opened_unix_ms) },
    ],
    controls: () => [search("Search", "q", "client or producer id"), clearLink(FILTERS)],
    empty: (
      filtered,
    ) => (filtered
      ? empty("No producer matches", clearLink(FILTERS))
      : empty("Nothing has sent records yet", "Start telemetry-worker forward or tune with --collector.")),
  };
  mountList(page, options);
}
