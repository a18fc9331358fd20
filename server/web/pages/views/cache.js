// @ts-check
// Best configs that tuners share.
import { h } from "../core/dom.js";
import { bytes } from "../core/format.js";
import { choice, clearLink, search } from "../parts/filters.js";
import { runHref } from "../parts/links.js";
import { mountList } from "../parts/list_view.js";
import { empty } from "../parts/states.js";
import { shortId, text } from "../parts/text.js";
import { when } from "../parts/values.js";

const FILTERS = ["namespace", "q"];

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  /** @type {import("../parts/list_view.js").ListOptions<import("api").CacheList>} */
  const options = {
    title: "Cache",
    help: "Best configs in their tuner's own format, served to other machines.",
    path: "/cache",
    noun: "entries",
    filters: FILTERS,
    columns: [
      { title: "Key", head: true, cell: (row) => text(row.key, { length: 60, code: true }) },
      { title: "Namespace", cell: (row) => text(row.namespace, { length: 40 }) },
      { title: "Hardware", cell: (row) => text(row.hardware, { length: 40 }) },
      { title: "Sender", cell: (row) => text(row.sender, { length: 40 }) },
      { title: "Size", number: true, cell: (row) => bytes(row.size_bytes) },
      { title: "Stored", cell: (row) => when(row.stored_unix_ms) },
      { title: "Run", cell: (row) => shortId(row.run_id, "run id", row.run_id ? runHref({ run_id: row.run_id }) : null) },
      { title: "Value", cell: (row) => h("a", { href: `/cache/${row.entry}` }, "show") },
    ],
    controls: (data) => [
      choice(
        "Namespace",
        "namespace",
        data.namespaces.map((one) => ({ label: one.namespace, filter: one.namespace, runs: one.entries })),
      ),
      search("Search", "q", "text in the key"),
      clearLink(FILTERS),
    ],
    empty: (
      filtered,
    ) => (filtered
      ? empty("No entry matches", clearLink(FILTERS))
      : empty("The cache is empty", "Tuners fill it: see ", h("code", {}, "telemetry-worker cache --help"), ".")),
  };
  mountList(page, options);
}
