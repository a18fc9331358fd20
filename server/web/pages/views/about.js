// @ts-check
// Version, API, libraries and their licences.
import { session } from "../core/api.js";
import { h } from "../core/dom.js";
import { table } from "../parts/table.js";
import { text } from "../parts/text.js";

/** @typedef {{name: string, version: string, license: string, use: string}} Library */

/** @type {Library[]} */
const LIBRARIES = [
  { name: "uPlot", version: "1.6.31", license: "MIT", use: "charts of series and points" },
  { name: "dagre, Netron's edition", version: "Netron 9.3.3", license: "MIT", use: "layout of graphs" },
  { name: "Apache ECharts", version: "6.1.0", license: "Apache-2.0", use: "parallel coordinates; loaded when needed" },
];

const KEYS = /** @type {[string, string][]} */ ([
  ["Tab, Shift+Tab", "go through links, controls and tables"],
  ["Enter, Space", "follow a link, press a button, unfold a part"],
  ["←, →", "scroll a wide table that has the focus"],
  ["Alt+←", "go back: each state of a view is in its address"],
  ["Arrows, +, −, 0", "move and zoom an IR graph that has the focus"],
]);

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  page.title("About");
  const version = h("span", {}, "…");
  session().then((answer) => version.replaceChildren(text(answer.version))).catch(() => version.replaceChildren("not known"));
  const part = (/** @type {string} */ title, /** @type {import("../core/dom.js").Children[]} */ ...content) =>
    h(
      "section",
      { class: "panel", "aria-label": title },
      h("header", { class: "panel-head" }, h("h2", {}, title)),
      h("div", { class: "panel-body" }, ...content),
    );
  page.root.append(
    h("h1", {}, "About"),
    part(
      "autotune telemetry",
      h("p", {}, "Version ", version, "."),
      h(
        "p",
        {},
        "The pages read the dataset through ",
        h("code", {}, "/api/v1"),
        "; they change nothing. ",
        h("a", { href: "/api/v1/openapi.json", download: "openapi.json" }, "OpenAPI description"),
        ".",
      ),
    ),
    part(
      "Keyboard",
      table({
        label: "Keys",
        rows: KEYS,
        columns: [{ title: "Key", head: true, cell: ([key]) => h("kbd", {}, key) }, {
          title: "Does",
          cell: ([, does]) => does,
        }],
      }),
    ),
    part(
      "Libraries",
      table({
        label: "Libraries",
        rows: LIBRARIES,
        columns: [
          { title: "Library", head: true, cell: (one) => one.name },
          {
            title: "Version",
            cell: (one) => one.version,
          },
          { title: "Licence", cell: (one) => one.license },
          {
            title: "Use",
            cell: (one) => one.use,
          },
        ],
      }),
      h("p", {}, h("a", { href: "/assets/lib/licenses.txt", download: "licenses.txt" }, "Texts of the licences")),
    ),
  );
}
