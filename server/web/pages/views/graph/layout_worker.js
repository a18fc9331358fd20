// @ts-check
// Lays out the groups of a graph, from the inside outwards, in a thread of its own.
import { layout as dagre } from "/assets/lib/dagre.js";
import { layered } from "./layered.js";

/** @typedef {import("./model.js").Group} Group */
/** @typedef {import("./model.js").Box} Box */
/** @typedef {{x: number, y: number, width: number, height: number}} Rectangle */
/** @typedef {{x: number, y: number}} Point */
/** @typedef {{source: string, target: string, points: Point[]}} Route a way around the nodes */
/**
 * @typedef {object} Layout
 * @property {{[id: string]: Rectangle}} nodes
 * @property {{[region: number]: Rectangle}} regions
 * @property {Route[]} routes
 * @property {number} width
 * @property {number} height
 */

// dagre takes half a second for about this many nodes, and grows faster than linearly.
const DAGRE_NODES = 200;
const DAGRE_EDGES = 350;
const PADDING = 14;
const HEADER = 22;

/**
 * @param {Box[]} nodes
 * @param {[string, string][]} edges
 * @param {boolean} small
 * @returns {{found: {id: string, x: number, y: number}[], routes: Route[]}}
 */
function places(nodes, edges, small) {
  if (!small) return { found: layered(nodes, edges), routes: [] };
  // dagre gets names of its own: an id of the dataset may be empty, or a name that dagre uses.
  const names = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  const items = nodes.map(({ id, width, height }) => ({ v: names.get(id), width, height, x: 0, y: 0 }));
  const unique = new Map(
    edges.filter(([from, to]) => from !== to).map(([from, to]) => [`${names.get(from)} ${names.get(to)}`, {
      v: names.get(from),
      w: names.get(to),
      source: from,
      target: to,
      minlen: 1,
      weight: 1,
      width: 0,
      height: 0,
      labeloffset: 10,
      labelpos: "r",
      points: /** @type {Point[]} */ ([]),
    }]),
  );
  const lines = [...unique.values()];
  dagre(items, lines, { nodesep: 20, ranksep: 32 }, {});
  return {
    found: items.map(({ x, y }, index) => ({ id: nodes[index].id, x, y })),
    routes: lines.map(({ source, target, points }) => ({ source, target, points })),
  };
}

/**
 * Lays out a group at (0, 0) and returns its size; `moves` collects what to move when the place of the group is known.
 * @param {Group} group
 * @param {Layout} layout
 * @param {boolean} small
 * @returns {{width: number, height: number, place: (x: number, y: number) => void}}
 */
function layGroup(group, layout, small) {
  const inner = new Map(group.boxes.map((box) => [box.id, layBox(box, layout, small)]));
  const sized = group.boxes.map((box) => ({ ...box, .../** @type {{width: number, height: number}} */ (inner.get(box.id)) }));
  const { found, routes } = places(sized, group.edges, small);
  const size = new Map(sized.map((box) => [box.id, box]));
  const left = found.reduce((least, { id, x }) => Math.min(least, x - (size.get(id)?.width ?? 0) / 2), Infinity);
  const top = found.reduce((least, { id, y }) => Math.min(least, y - (size.get(id)?.height ?? 0) / 2), Infinity);
  const right = found.reduce((most, { id, x }) => Math.max(most, x + (size.get(id)?.width ?? 0) / 2), -Infinity);
  const bottom = found.reduce((most, { id, y }) => Math.max(most, y + (size.get(id)?.height ?? 0) / 2), -Infinity);
  const width = found.length ? right - left + 2 * PADDING : 160;
  const height = found.length ? bottom - top + 2 * PADDING + HEADER : HEADER + PADDING;
  return {
    width,
    height,
    place(x, y) {
      layout.regions[group.region] = { x, y, width, height };
      const moved = (/** @type {Point} */ point) => ({
        x: point.x + x + PADDING - left,
        y: point.y + y + PADDING + HEADER - top,
      });
      for (const { source, target, points } of routes) layout.routes.push({ source, target, points: points.map(moved) });
      for (const { id, x: middle_x, y: middle_y } of found) {
        const box = /** @type {Box} */ (size.get(id));
        inner.get(id)?.place(
          x + PADDING + middle_x - left - box.width / 2,
          y + PADDING + HEADER + middle_y - top - box.height / 2,
        );
      }
    },
  };
}

/**
 * Lays out a node with the regions that it enters, beside each other below its title.
 * @param {Box} box
 * @param {Layout} layout
 * @param {boolean} small
 * @returns {{width: number, height: number, place: (x: number, y: number) => void}}
 */
function layBox(box, layout, small) {
  const groups = box.groups.map((group) => layGroup(group, layout, small));
  const inside = groups.reduce((sum, group) => sum + group.width + PADDING, groups.length ? PADDING : 0);
  const width = Math.max(box.width, inside);
  const height = groups.length ? box.height + Math.max(...groups.map((group) => group.height)) + PADDING : box.height;
  return {
    width,
    height,
    place(x, y) {
      layout.nodes[box.id] = { x, y, width, height };
      let left = x + PADDING;
      for (const group of groups) {
        group.place(left, y + box.height);
        left += group.width + PADDING;
      }
    },
  };
}

/**
 * @param {Group[]} roots
 * @param {boolean} small
 * @returns {Layout}
 */
function layAll(roots, small) {
  /** @type {Layout} */
  const layout = { nodes: Object.create(null), regions: Object.create(null), routes: [], width: 0, height: 0 };
  let left = 0;
  for (const root of roots) {
    const group = layGroup(root, layout, small);
    group.place(left, 0);
    left += group.width + 2 * PADDING;
    layout.width = left - 2 * PADDING;
    layout.height = Math.max(layout.height, group.height);
  }
  return layout;
}

onmessage = (event) => {
  const { roots, nodes, edges } = event.data;
  const started = performance.now();
  const layout = layAll(roots, nodes <= DAGRE_NODES && edges <= DAGRE_EDGES);
  postMessage({ layout, elapsed_ms: performance.now() - started });
};
