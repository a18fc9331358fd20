// @ts-check
// The source of a kernel's version, or its difference to another version.
import { get } from "../core/api.js";
import { diffLines } from "../core/diff.js";
import { h } from "../core/dom.js";
import { count } from "../core/format.js";
import { href, query } from "../core/url.js";
import { crumbs } from "../parts/crumbs.js";
import { panel } from "../parts/panel.js";
import { codeBlock, copyButton, visible } from "../parts/text.js";

/** @typedef {import("api").Source} Source */

const CONTEXT = 3;
const SIGNS = { same: " ", removed: "−", added: "+" };

/** @param {import("../core/diff.js").DiffLine} line */
function lineElement(line) {
  return h(
    "div",
    { class: `diff-line ${line.kind}` },
    h("span", { class: "line-number" }, line.before ?? ""),
    h("span", { class: "line-number" }, line.after ?? ""),
    h("span", { class: "sign" }, SIGNS[line.kind]),
    h("code", {}, visible(line.text)),
  );
}

/**
 * Returns the changed lines with some lines around them.
 * @param {Source} before
 * @param {Source} after
 */
function difference(before, after) {
  const lines = diffLines(before.source ?? "", after.source ?? "");
  const near = new Set();
  lines.forEach((line, index) => {
    if (line.kind !== "same") { for (let at = index - CONTEXT; at <= index + CONTEXT; at++) near.add(at); }
  });
  /** @type {HTMLElement[]} */
  const shown = [];
  let skipped = 0;
  lines.forEach((line, index) => {
    if (near.has(index)) {
      if (skipped) shown.push(h("div", { class: "diff-skip" }, `${count(skipped)} lines without a change`));
      skipped = 0;
      shown.push(lineElement(line));
    } else {
      skipped++;
    }
  });
  const changed = lines.filter((line) => line.kind !== "same").length;
  if (changed === 0) return h("p", { class: "note" }, "The sources are the same.");
  return h("div", { class: "diff", tabindex: 0, role: "group", "aria-label": "Difference" }, shown);
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  page.title("Source");
  const values = query();
  const request = (/** @type {string | null} */ version) => ({
    path: "/kernel/source",
    values: { kernel: query().get("kernel"), version },
  });
  const body = h("div");
  const source = panel(page, {
    title: values.has("before") ? "Difference of two versions" : "Source",
    name: "source",
    request: (values) => request(values.get("version")),
    draw: (/** @type {Source} */ data, values) => {
      const before = values.get("before");
      const note = data.truncated ? h("p", { class: "banner" }, "Only the first 1 MiB is shown.") : null;
      if (!before) {
        return [
          note,
          data.source === null ? h("p", { class: "note" }, "No source is stored.") : codeBlock(data.source, "source"),
        ];
      }
      body.replaceChildren("Loading…");
      get(request(before), page.signal)
        .then((old) => body.replaceChildren(difference(old, data)))
        .catch((error) => body.replaceChildren(h("p", { role: "alert" }, visible(String(error.message)))));
      return [
        note,
        h(
          "p",
          {},
          "From ",
          h("span", { class: "code" }, before.slice(0, 8)),
          " to ",
          h("span", { class: "code" }, data.version.slice(0, 8)),
          ". ",
          data.source === null ? null : copyButton(data.source, "source"),
        ),
        body,
      ];
    },
  });
  page.root.append(
    crumbs([["/kernels", "Kernels"], [href("/kernel", { kernel: values.get("kernel") }), values.get("kernel")]]),
    h("h1", {}, "Source ", h("span", { class: "code" }, (values.get("version") ?? "").slice(0, 8))),
    source.element,
  );
}
