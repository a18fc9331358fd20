// @ts-check
// What stands beside a graph: all features of the selected node, the source, and the results of a search.
import { h } from "../../core/dom.js";
import { count } from "../../core/format.js";
import { change } from "../../core/url.js";
import { short, text, visible } from "../../parts/text.js";
import { facts } from "../../parts/values.js";
import { titleOf } from "./model.js";

/** @typedef {import("api").Graph} Graph */
/** @typedef {import("api").GraphNode} GraphNode */

const MOST_RESULTS = 100;

/** @param {GraphNode} node */
function nodeButton(node) {
  return h(
    "button",
    {
      type: "button",
      class: "link",
      onclick: () => change({ node: node.id }),
      "data-focus": `node-${node.id}`,
    },
    h("bdi", {}, short(titleOf(node), 40)),
    " ",
    h("small", {}, short(node.id, 40)),
  );
}

/** @param {string} title @param {GraphNode[]} nodes */
function nodeList(title, nodes) {
  if (nodes.length === 0) return null;
  return h(
    "div",
    {},
    h("h3", {}, title),
    h("ul", { class: "plain" }, nodes.slice(0, MOST_RESULTS).map((node) => h("li", {}, nodeButton(node)))),
  );
}

/**
 * @param {Graph} graph
 * @param {Map<string, GraphNode>} nodes
 * @param {string} id
 */
export function nodeDetails(graph, nodes, id) {
  const node = nodes.get(id);
  if (!node) return h("p", { class: "note" }, "The graph has no such node.");
  const known = (/** @type {string[]} */ ids) => [...new Set(ids)].flatMap((one) => nodes.get(one) ?? []);
  const plain = /** @type {[string, unknown][]} */ ([
    ["id", node.id],
    ["region", `${node.graph_id}${node.region_kind ? ` (${node.region_kind})` : ""}`],
    ["op_kind", node.op_kind],
    ["target", node.target],
    ["dtype", node.dtype],
    ["shape", node.shape],
    ["source", node.source_file ? `${node.source_file}:${node.source_line ?? "?"}` : node.source_line],
  ]);
  const all = [...plain.filter(([, value]) => value !== null && value !== undefined), ...Object.entries(node.features)];
  return h(
    "div",
    { class: "node-details" },
    h("h3", {}, h("bdi", {}, short(titleOf(node), 60))),
    facts(
      all.map((
        [name, value],
      ) => [short(name, 60), text(typeof value === "string" ? value : JSON.stringify(value), { length: 200, code: true })]),
    ),
    nodeList("Inputs", known(graph.edges.filter((edge) => edge.target === id).map((edge) => edge.source))),
    nodeList("Uses", known(graph.edges.filter((edge) => edge.source === id).map((edge) => edge.target))),
  );
}

/**
 * Returns the nodes whose texts contain the words.
 * @param {Graph} graph
 * @param {string} words
 */
export function found(graph, words) {
  const wanted = words.toLowerCase();
  return wanted === ""
    ? []
    : graph.nodes.filter((node) =>
      [node.id, node.target, node.op_kind, node.dtype, node.shape].some((part) => part?.toLowerCase().includes(wanted))
    );
}

/** @param {GraphNode[]} nodes */
export function results(nodes) {
  return h("div", { role: "status" }, h("p", {}, `${count(nodes.length)} nodes`), nodeList("Results", nodes));
}

/**
 * Returns the line of the file on which the source begins: 1 where the lines of all nodes lie in the source; else a guess, by
 * which the first line of a node is the first line after the head of the first loop.
 * @param {Graph} graph
 */
export function firstLine(graph) {
  const lines = (graph.source ?? "").split("\n");
  const used = graph.nodes.flatMap((node) => (node.source_line === null ? [] : [node.source_line]));
  const least = used.reduce((a, b) => Math.min(a, b), Infinity);
  const most = used.reduce((a, b) => Math.max(a, b), 0);
  if (used.length === 0 || most <= lines.length) return 1;
  const loop = lines.findIndex((line) => /^\s*(for|while)\b/.test(line));
  return Math.max(1, Math.min(least, least - (loop >= 0 ? loop + 1 : 0)));
}

/**
 * Returns the source; a line with nodes is a button that marks them.
 * @param {Graph} graph
 * @param {number} first line of the file on which the source begins
 * @param {Set<number>} marked lines of the file
 */
export function sourceLines(graph, first, marked) {
  if (graph.source === null) return h("p", { class: "note" }, "The source of this kernel is not stored.");
  /** @type {Map<number, number>} */
  const uses = new Map();
  for (const { source_line } of graph.nodes) if (source_line !== null) uses.set(source_line, (uses.get(source_line) ?? 0) + 1);
  return h(
    "div",
    { class: "source", tabindex: 0, role: "group", "aria-label": "Source" },
    graph.source.split("\n").slice(0, 5000).map((line, index) => {
      const number = first + index;
      const nodes = uses.get(number);
      const label = nodes
        ? h("button", {
          type: "button",
          class: "line-number link",
          title: `Mark the ${nodes} nodes of this line`,
          onclick: () => change({ line: number, node: null }),
          "data-focus": `line-${number}`,
        }, number)
        : h("span", { class: "line-number" }, number);
      return h(
        "div",
        { class: `source-line${marked.has(number) ? " marked" : ""}${nodes ? " used" : ""}` },
        label,
        h("code", {}, visible(line)),
      );
    }),
  );
}
