// @ts-check
// All kernels by name.
import { count } from "../core/format.js";
import { h } from "../core/dom.js";
import { href } from "../core/url.js";
import { clearLink, search } from "../parts/filters.js";
import { kernelHref } from "../parts/links.js";
import { mountList } from "../parts/list_view.js";
import { empty } from "../parts/states.js";
import { summariesNote } from "../parts/summaries.js";
import { link } from "../parts/text.js";
import { when } from "../parts/values.js";

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  /** @type {import("../parts/list_view.js").ListOptions<import("api").KernelList>} */
  const options = {
    title: "Kernels",
    path: "/kernels",
    noun: "kernels",
    filters: ["q"],
    sort: "name",
    columns: [
      { title: "Kernel", sort: "name", head: true, cell: (row) => link(kernelHref(row.kernel), row.kernel.label) },
      {
        title: "Runs",
        sort: "runs",
        down: true,
        number: true,
        cell: (row) => h("a", { href: href("/runs", { kernel: row.kernel.filter }) }, count(row.runs)),
      },
      { title: "Attempts", number: true, cell: (row) => count(row.attempts) },
      { title: "Measurements", sort: "rows", down: true, number: true, cell: (row) => count(row.rows) },
      { title: "Versions", number: true, cell: (row) => count(row.versions), note: "different source texts" },
      { title: "Shapes", number: true, cell: (row) => count(row.shapes) },
      { title: "Devices", number: true, cell: (row) => count(row.devices) },
      { title: "First received", cell: (row) => when(row.first_received_unix_ms) },
      { title: "Newest", sort: "last_received", down: true, cell: (row) => when(row.last_received_unix_ms) },
    ],
    controls: () => [search("Search", "q", "name of a kernel"), clearLink(["q"])],
    before: (data) => summariesNote(data.summaries),
    empty: (
      filtered,
    ) => (filtered
      ? empty("No kernel matches", clearLink(["q"]))
      : empty("The dataset has no kernels yet", "Forward sidecars with ", h("code", {}, "telemetry-worker forward"), ".")),
  };
  mountList(page, options);
}
