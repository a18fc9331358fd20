// @ts-check
// Draws a graph that is laid out.
import { h, svg } from "../../core/dom.js";
import { short } from "../../parts/text.js";
import { titleOf, typeOf } from "./model.js";
import { navigation } from "./navigation.js";

/** @typedef {import("./layout_worker.js").Layout} Layout */
/** @typedef {import("./layout_worker.js").Rectangle} Rectangle */

const KINDS = /** @type {[RegExp, string][]} */ ([
  [/load|store|atomic|host_tensor|buffer/i, "memory"],
  [/reduc|sum|amax|amin|max|min|mean|dot|matmul|mm$/i, "reduce"],
  [/symnode|constant|get_/i, "scalar"],
  [/loop|for|if|while|region|control/i, "control"],
]);

/** @param {import("api").GraphNode} node @param {boolean} enters */
function kindOf(node, enters) {
  if (enters) return "control";
  const name = titleOf(node);
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? "compute";
}

// A frame draws so many elements, so that a large graph does not block the page.
const PER_FRAME = 150;

/**
 * Calls `draw` for each item, some in each frame, until the signal is aborted.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => void} draw
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function inFrames(items, draw, signal) {
  return new Promise((resolve) => {
    let next = 0;
    const step = () => {
      if (signal.aborted) return;
      for (const end = Math.min(items.length, next + PER_FRAME); next < end; next++) draw(items[next]);
      if (next < items.length) requestAnimationFrame(step);
      else resolve();
    };
    step();
  });
}

/** @param {Rectangle} from @param {Rectangle} to */
function curve(from, to) {
  const [x1, y1, x2] = [from.x + from.width / 2, from.y + from.height, to.x + to.width / 2];
  const nested = to.y < y1;
  const y2 = to.y;
  const start = nested ? from.y + Math.min(from.height, 40) : y1;
  const bend = Math.max(12, Math.abs(y2 - start) / 2);
  return `M${x1},${start}C${x1},${start + bend} ${x2},${y2 - bend} ${x2},${y2 - 2}`;
}

/**
 * Returns a smooth path through points.
 * @param {{x: number, y: number}[]} points
 */
function through(points) {
  const last = points[points.length - 1];
  let path = `M${points[0].x},${points[0].y}`;
  for (let i = 1; i < points.length - 1; i++) {
    const end = i === points.length - 2
      ? last
      : { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 };
    path += `Q${points[i].x},${points[i].y} ${end.x},${end.y}`;
  }
  return points.length < 3 ? `${path}L${last.x},${last.y}` : path;
}

/**
 * @typedef {object} DrawingOptions
 * @property {Layout} layout
 * @property {ReturnType<typeof import("./model.js").regionTree>} tree
 * @property {{source: string, target: string, kind: string | null}[]} edges
 * @property {Set<number>} folded
 * @property {(id: string) => void} select
 * @property {(region: number) => void} fold folds or unfolds
 * @property {string} label
 */

/**
 * @param {DrawingOptions} options
 * @param {string} id
 * @param {Rectangle} place
 */
function nodeElement({ tree, folded, select, fold }, id, place) {
  const node = /** @type {import("api").GraphNode} */ (tree.nodes.get(id));
  const entered = tree.entered.get(id) ?? [];
  const title = short(titleOf(node), 26);
  const sub = short(typeOf(node) || node.op_kind, 30);
  const middle = place.x + place.width / 2;
  const group = svg(
    "g",
    { class: `node ${kindOf(node, entered.length > 0)}`, "data-id": id, onclick: () => select(id) },
    svg("title", {}, `${short(node.id, 100)}\n${short(node.target, 200)}`),
    svg("rect", { x: place.x, y: place.y, width: place.width, height: place.height, rx: 5 }),
    svg("text", { class: "node-title", x: middle, y: place.y + 17, "text-anchor": "middle" }, title),
    svg("text", { class: "node-type", x: middle, y: place.y + 31, "text-anchor": "middle" }, sub),
  );
  entered.forEach((region, index) => {
    if (!folded.has(region.graph_id)) return;
    const toggle = (/** @type {Event} */ event) => {
      event.stopPropagation();
      fold(region.graph_id);
    };
    group.append(
      svg(
        "g",
        { class: "fold", onclick: toggle },
        svg("title", {}, `Unfold region ${region.graph_id} with ${region.nodes} nodes`),
        svg("rect", { x: place.x + place.width - 18 - index * 18, y: place.y - 8, width: 16, height: 16, rx: 3 }),
        svg("text", { x: place.x + place.width - 10 - index * 18, y: place.y + 4, "text-anchor": "middle" }, "+"),
      ),
    );
  });
  return group;
}

/** @param {DrawingOptions} options @param {number} id @param {Rectangle} place */
function regionElement({ tree, fold, folded }, id, place) {
  const region = tree.regions.get(id);
  const is_folded = folded.has(id);
  const label = `${short(region?.region_kind ?? "region", 40)} ${id}`;
  return svg(
    "g",
    { class: "region" },
    svg("rect", { class: "region-box", x: place.x, y: place.y, width: place.width, height: place.height, rx: 7 }),
    svg(
      "g",
      { class: "fold", onclick: () => fold(id) },
      svg("title", {}, `${is_folded ? "Unfold" : "Fold"} region ${id}`),
      svg("rect", { x: place.x + 6, y: place.y + 5, width: 16, height: 16, rx: 3 }),
      svg("text", { x: place.x + 14, y: place.y + 17, "text-anchor": "middle" }, is_folded ? "+" : "−"),
    ),
    svg("text", { class: "region-title", x: place.x + 28, y: place.y + 17 }, label),
  );
}

/**
 * Returns the drawing and what marks nodes in it.
 * @param {DrawingOptions} options
 * @param {AbortSignal} signal
 */
export function drawing(options, signal) {
  const { layout, edges } = options;
  /** @type {Map<string, SVGElement>} */
  const nodes = new Map();
  /** @type {{source: string, target: string, element: SVGElement}[]} */
  const lines = [];
  const arrow = svg("marker", {
    id: "arrow",
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerWidth: 6,
    markerHeight: 6,
    orient: "auto",
  }, svg("path", { class: "arrow", d: "M0,0L8,4L0,8z" }));
  const box_layer = svg("g");
  const line_layer = svg("g");
  const scene = svg("g", {}, box_layer, line_layer);
  const root = svg(
    "svg",
    { class: "graph-drawing", tabindex: 0, role: "group", "aria-roledescription": "graph", "aria-label": options.label },
    svg("defs", {}, arrow),
    scene,
  );
  const moves = navigation(root, scene, layout);
  const buttons = h(
    "div",
    { class: "graph-buttons" },
    h("button", { type: "button", title: "Zoom in", "aria-label": "Zoom in", onclick: () => moves.zoom(1.25) }, "+"),
    h("button", { type: "button", title: "Zoom out", "aria-label": "Zoom out", onclick: () => moves.zoom(0.8) }, "−"),
    h("button", { type: "button", onclick: () => moves.fit() }, "Fit"),
  );
  /** @type {{selected: string | null, marked: Set<string>}} */
  let marks = { selected: null, marked: new Set() };
  const markNode = (/** @type {string} */ id, /** @type {SVGElement} */ element) => {
    element.classList.toggle("selected", id === marks.selected);
    element.classList.toggle("marked", marks.marked.has(id));
  };
  const markLine = (/** @type {typeof lines[number]} */ { source, target, element }) =>
    element.classList.toggle("near", source === marks.selected || target === marks.selected);

  // Outer regions and nodes first: the inner ones lie above them.
  const boxes = [
    ...Object.entries(layout.regions).map(([id, place]) => ({ id, place, is_region: true })),
    ...Object.entries(layout.nodes).map(([id, place]) => ({ id, place, is_region: false })),
  ]
    .sort((a, b) => b.place.width * b.place.height - a.place.width * a.place.height);
  const drawBox = (/** @type {typeof boxes[number]} */ { id, place, is_region }) => {
    const element = is_region ? regionElement(options, Number(id), place) : nodeElement(options, id, place);
    box_layer.append(element);
    if (is_region) return;
    nodes.set(id, element);
    markNode(id, element);
  };
  const routes = new Map(
    layout.routes.filter((route) => route.points.length > 1).map((route) => [`${route.source}\0${route.target}`, route.points]),
  );
  const drawLine = (/** @type {typeof edges[number]} */ edge) => {
    const [from, to] = [layout.nodes[edge.source], layout.nodes[edge.target]];
    if (!from || !to) return;
    const route = routes.get(`${edge.source}\0${edge.target}`);
    const element = svg("path", {
      class: `edge${edge.kind === "data" ? "" : " other"}`,
      d: route ? through(route) : curve(from, to),
      "marker-end": "url(#arrow)",
    });
    line_layer.append(element);
    lines.push({ ...edge, element });
    markLine(lines[lines.length - 1]);
  };
  return {
    element: h("div", { class: "graph-box" }, root, buttons),
    begin: moves.begin,
    /** Draws all; a large graph takes several frames. */
    draw: () => inFrames(boxes, drawBox, signal).then(() => inFrames(edges, drawLine, signal)),
    /**
     * Marks the selected node with its edges, and the nodes of a source line or a search.
     * @param {string | null} selected
     * @param {Set<string>} marked
     */
    mark(selected, marked) {
      marks = { selected, marked };
      nodes.forEach((element, id) => markNode(id, element));
      lines.forEach(markLine);
    },
    /** @param {string} id */
    show(id) {
      if (layout.nodes[id]) moves.show(layout.nodes[id]);
    },
  };
}
