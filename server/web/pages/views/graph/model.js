// @ts-check
// The visible part of an IR graph: regions are nested in the nodes that enter them, and fold into these nodes.

/** @typedef {import("api").Graph} Graph */
/** @typedef {import("api").GraphNode} GraphNode */
/** @typedef {import("api").GraphRegion} GraphRegion */

/**
 * A node, with those regions that it enters and that are unfolded.
 * @typedef {{id: string, width: number, height: number, groups: Group[]}} Box
 */
/** @typedef {{region: number, boxes: Box[], edges: [string, string][]}} Group the content of a region */

const HEIGHT = 40;
const LETTER = 6.6;

/** @param {GraphNode} node */
export function titleOf(node) {
  const name = node.target ?? node.op_kind ?? node.id;
  return name.split(/[.:]/).filter(Boolean).at(-1) ?? node.id;
}

/** @param {GraphNode} node */
export function typeOf(node) {
  return [node.dtype?.replace(/^torch\./, ""), node.shape].filter(Boolean).join(" ");
}

/** @param {GraphNode} node */
function widthOf(node) {
  const letters = Math.max(
    Math.min(26, titleOf(node).length),
    Math.min(30, (typeOf(node) || node.op_kind || "").length * 0.85),
  );
  return Math.round(Math.max(60, letters * LETTER + 20));
}

/**
 * Returns the tree of regions: the children of each node, and the roots. A region whose entry is missing, or lies within
 * the region itself, is a root.
 * @param {Graph} graph
 */
export function regionTree(graph) {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const regions = new Map(graph.regions.map((region) => [region.graph_id, region]));
  for (const node of graph.nodes) {
    if (!regions.has(node.graph_id)) {
      regions.set(node.graph_id, {
        graph_id: node.graph_id,
        region_kind: node.region_kind,
        block_ids: null,
        nodes: 0,
        parent: null,
        entry_node: null,
      });
    }
  }
  /** @param {GraphRegion} region */
  const entryOf = (region) => (region.entry_node === null ? undefined : nodes.get(region.entry_node));
  /** @param {GraphRegion} region */
  const isNested = (region) => {
    const seen = new Set();
    for (let at = region;;) {
      if (seen.has(at.graph_id)) return false;
      seen.add(at.graph_id);
      const entry = entryOf(at);
      if (!entry) return at !== region;
      at = /** @type {GraphRegion} */ (regions.get(entry.graph_id));
    }
  };
  /** @type {Map<string, GraphRegion[]>} */
  const entered = new Map();
  /** @type {GraphRegion[]} */
  const roots = [];
  for (const region of regions.values()) {
    if (!isNested(region)) roots.push(region);
    else {entered.set(/** @type {string} */ (region.entry_node), [
        ...(entered.get(/** @type {string} */ (region.entry_node)) ?? []),
        region,
      ]);}
  }
  return { nodes, regions, entered, roots };
}

/**
 * Returns the groups to lay out, and the visible edges.
 * @param {Graph} graph
 * @param {ReturnType<typeof regionTree>} tree
 * @param {Set<number>} folded
 */
export function visiblePart(graph, tree, folded) {
  /** @type {Map<number, GraphNode[]>} */
  const members = new Map();
  for (const node of tree.nodes.values()) {
    const list = members.get(node.graph_id);
    if (list) list.push(node);
    else members.set(node.graph_id, [node]);
  }
  /** For each node the visible node that stands for it, and for each visible node the path of nodes around it. */
  /** @type {Map<string, string>} */
  const shown = new Map();
  /** @type {Map<string, string[]>} */
  const paths = new Map();
  /** @type {Map<number, Group>} */
  const groups = new Map();

  /** @param {GraphRegion} region @param {string} by */
  const hide = (region, by) => {
    for (const node of members.get(region.graph_id) ?? []) {
      shown.set(node.id, by);
      for (const inner of tree.entered.get(node.id) ?? []) hide(inner, by);
    }
  };
  /** @param {GraphRegion} region @param {string[]} path @returns {Group} */
  const groupOf = (region, path) => {
    const boxes = (members.get(region.graph_id) ?? []).map((node) => {
      shown.set(node.id, node.id);
      paths.set(node.id, [...path, node.id]);
      const inner = tree.entered.get(node.id) ?? [];
      inner.filter((one) => folded.has(one.graph_id)).forEach((one) => hide(one, node.id));
      const open = inner.filter((one) => !folded.has(one.graph_id)).map((one) => groupOf(one, [...path, node.id]));
      return { id: node.id, width: widthOf(node), height: HEIGHT, groups: open };
    });
    const group = { region: region.graph_id, boxes, edges: [] };
    groups.set(region.graph_id, group);
    return group;
  };
  const roots = tree.roots.filter((root) => members.has(root.graph_id)).map((root) =>
    folded.has(root.graph_id) && tree.roots.length > 1 ? { region: root.graph_id, boxes: [], edges: [] } : groupOf(root, [])
  );

  /** @type {Map<string, {source: string, target: string, kind: string | null}>} */
  const edges = new Map();
  for (const edge of graph.edges) {
    const source = shown.get(edge.source);
    const target = shown.get(edge.target);
    if (source === undefined || target === undefined || source === target) continue;
    const from = paths.get(source) ?? [];
    const to = paths.get(target) ?? [];
    let depth = 0;
    while (depth < from.length - 1 && depth < to.length - 1 && from[depth] === to[depth]) depth++;
    const around = from[depth] === to[depth];
    if (!around) {
      const region = tree.nodes.get(from[depth])?.graph_id;
      if (region !== undefined && region === tree.nodes.get(to[depth])?.graph_id) {
        groups.get(region)?.edges.push([from[depth], to[depth]]);
      }
    }
    if (!(around && edge.edge_kind === "region")) {
      edges.set(`${source}\0${target}\0${edge.edge_kind}`, { source, target, kind: edge.edge_kind });
    }
  }
  return { roots, edges: [...edges.values()], shown, count: paths.size };
}
