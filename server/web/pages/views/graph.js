// @ts-check
// An IR graph: regions fold, a node shows its features, nodes and source lines mark each other.
import { h, replace } from "../core/dom.js";
import { count, counted } from "../core/format.js";
import { change, query } from "../core/url.js";
import { choice, clearLink, search } from "../parts/filters.js";
import { runHref, senderOf } from "../parts/links.js";
import { crumbs } from "../parts/crumbs.js";
import { panel } from "../parts/panel.js";
import { empty, loading } from "../parts/states.js";
import { short } from "../parts/text.js";
import { leftOut } from "../parts/values.js";
import { firstLine, found, nodeDetails, results, sourceLines } from "./graph/details.js";
import { drawing } from "./graph/drawing.js";
import { regionTree, visiblePart } from "./graph/model.js";

/** @typedef {import("api").Graph} Graph */
/** @typedef {ReturnType<typeof drawing>} Drawing */

// Of a larger graph only the roots are unfolded at first.
const UNFOLDED_NODES = 2500;

/**
 * Returns the folded regions: those in the URL, else of a large graph all nested ones.
 * @param {Graph} graph
 * @param {ReturnType<typeof regionTree>} tree
 */
function foldedOf(graph, tree) {
  const text = query().get("folded");
  if (text !== null) return new Set(text.split(",").filter(Boolean).map(Number));
  if (graph.nodes.length <= UNFOLDED_NODES) return new Set(/** @type {number[]} */ ([]));
  return new Set([...tree.entered.values()].flat().map((region) => region.graph_id));
}

/**
 * Lays out a graph in a worker.
 * @param {{roots: import("./graph/model.js").Group[], edges: unknown[], count: number}} part
 * @param {AbortSignal} signal
 * @returns {Promise<{layout: import("./graph/layout_worker.js").Layout, elapsed_ms: number}>}
 */
function layOut(part, signal) {
  return new Promise((resolve, reject) => {
    const worker = new Worker("/assets/views/graph/layout_worker.js", { type: "module" });
    const end = () => worker.terminate();
    signal.addEventListener("abort", end);
    worker.onmessage = ({ data }) => {
      end();
      resolve(data);
    };
    worker.onerror = (event) => {
      end();
      reject(new Error(event.message || "the layout failed"));
    };
    worker.postMessage({ roots: part.roots, nodes: part.count, edges: part.edges.length });
  });
}

/**
 * Keeps a drawing of a graph, which follows the URL.
 * @param {import("../core/page.js").Page} page
 * @param {Graph} graph
 */
function graphView(page, graph) {
  const tree = regionTree(graph);
  const stage = h("div", { class: "graph-stage" });
  const side = h("aside", { class: "graph-side", "aria-label": "Details" });
  const note = h("p", { class: "note", role: "status" });
  /** @type {Drawing | null} */
  let drawn = null;
  let drawn_for = "";

  const mark = () => {
    const values = query();
    const node = values.get("node");
    const line = Number(values.get("line") ?? NaN);
    const hits = found(graph, values.get("q") ?? "");
    const marked = new Set([...hits, ...graph.nodes.filter((one) => one.source_line === line)].map((one) => one.id));
    const lines = new Set(node ? [tree.nodes.get(node)?.source_line ?? NaN] : [line]);
    drawn?.mark(node, marked);
    const first = Number(values.get("first") ?? firstLine(graph));
    const begin = h("input", { type: "number", min: 1, value: first, id: "first-line", "data-focus": "first-line" });
    begin.addEventListener("change", () => change({ first: begin.value }, { replace: true }));
    replace(
      side,
      values.get("q") ? results(hits) : null,
      node ? nodeDetails(graph, tree.nodes, node) : h("p", { class: "note" }, "Select a node, or a line of the source."),
      h("h3", {}, "Source"),
      h("div", { class: "field check" }, h("label", { for: "first-line" }, "begins on line"), begin),
      sourceLines(graph, first, lines),
    );
    side.querySelector(".source-line.marked")?.scrollIntoView({ block: "nearest" });
  };
  const draw = async () => {
    const folded = foldedOf(graph, tree);
    const key = [...folded].sort().join(",");
    if (drawn && key === drawn_for) return mark();
    drawn_for = key;
    const part = visiblePart(graph, tree, folded);
    if (!drawn) replace(stage, loading("Laying out the graph"));
    mark();
    const { layout, elapsed_ms } = await layOut(part, page.signal);
    if (page.signal.aborted || key !== drawn_for) return;
    const fold = (/** @type {number} */ region) => {
      if (folded.has(region)) folded.delete(region);
      else folded.add(region);
      change({ folded: [...folded].sort((a, b) => a - b).join(",") || "none" });
    };
    const now = drawing({
      layout,
      tree,
      edges: part.edges,
      folded,
      fold,
      select: (id) => change({ node: id, line: null }),
      label: `IR graph with ${count(part.count)} visible nodes`,
    }, page.signal);
    drawn = now;
    replace(stage, now.element);
    now.begin();
    mark();
    await now.draw();
    stage.dataset.elapsed = String(Math.round(elapsed_ms));
    note.textContent = `${count(part.count)} of ${counted(graph.nodes.length, "node")} visible, ${
      counted(graph.edges.length, "edge")
    }; laid out in ${Math.round(elapsed_ms)} ms.`;
  };
  page.onQuery(() => void draw());
  void draw();
  const all = [...tree.entered.values()].flat().map((region) => region.graph_id).sort((a, b) => a - b);
  const folds = all.length === 0 ? null : [
    h("button", { type: "button", onclick: () => change({ folded: all.join(",") }) }, "Fold all"),
    h("button", { type: "button", onclick: () => change({ folded: "none" }) }, "Unfold all"),
  ];
  const show = h(
    "button",
    { type: "button", onclick: () => drawn?.show(query().get("node") ?? "") },
    "Go to the selected node",
  );
  return [
    h(
      "div",
      { class: "controls" },
      search("Search", "q", "operation, type or id"),
      clearLink(["q", "node", "line"]),
      folds,
      show,
    ),
    note,
    h("div", { class: "graph" }, stage, side),
  ];
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  const [run_id] = page.path;
  page.title("IR graph");
  const kinds = h("div", { class: "controls" });
  const list = panel(page, {
    title: "Graphs",
    name: "graphs",
    shows: ["kind"],
    request: (values) => ({ path: `/runs/${run_id}/graphs`, values: senderOf(values) }),
    draw: (/** @type {import("api").GraphList} */ data) => {
      if (data.items.length === 0) return empty("This run has no IR graph", "Its tuner does not send graphs.");
      const sizes = h(
        "p",
        { class: "note" },
        data.items.map((one) => `${short(one.kind, 40)}: ${counted(one.nodes, "node")}, ${counted(one.edges, "edge")}`).join(
          "; ",
        ),
      );
      const names = [...new Set(data.items.map((one) => one.kind))];
      replace(
        kinds,
        choice("Graph", "kind", names.map((kind) => ({ label: `${short(kind, 40)} IR`, filter: kind })), {
          any: null,
          initial: "device",
          resets: ["node", "line", "folded", "q"],
        }),
      );
      return [kinds, sizes];
    },
  });
  const graph = panel(page, {
    title: "IR graph",
    name: "ir-graph",
    csv: true,
    themed: false,
    request: (values) => ({
      path: `/runs/${run_id}/graphs/${encodeURIComponent(values.get("kind") ?? "device")}`,
      values: senderOf(values),
    }),
    draw: (/** @type {Graph} */ data) =>
      data.nodes.length === 0
        ? empty("The graph has no nodes", "")
        : [leftOut(data.nodes_left_out, "nodes"), ...graphView(page, data)],
  });
  const run = { run_id, ...senderOf(query()) };
  page.root.append(
    crumbs([["/runs", "Runs"], [runHref(run), `run ${run_id.slice(0, 8)}`]]),
    h("h1", {}, "IR graph"),
    list.element,
    graph.element,
  );
}
