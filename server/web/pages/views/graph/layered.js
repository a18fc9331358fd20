// @ts-check
// A layered layout in time linear in the edges, for graphs on which dagre takes too long.

/** @typedef {{id: string, width: number, height: number}} Size */
/** @typedef {{id: string, x: number, y: number}} Place the middle of a node */

const GAP_X = 20;
const GAP_Y = 36;
const SWEEPS = 6;

/**
 * Returns the neighbours of each node, without edges that close a cycle.
 * @param {Size[]} nodes
 * @param {[string, string][]} edges
 */
function neighbours(nodes, edges) {
  const index = new Map(nodes.map((node, at) => [node.id, at]));
  /** @type {number[][]} */
  const all = nodes.map(() => []);
  for (const [from, to] of edges) {
    const a = index.get(from);
    const b = index.get(to);
    if (a !== undefined && b !== undefined && a !== b) all[a].push(b);
  }
  /** @type {number[][]} */
  const down = nodes.map(() => []);
  /** @type {number[][]} */
  const up = nodes.map(() => []);
  const state = new Uint8Array(nodes.length);
  for (let start = 0; start < nodes.length; start++) {
    if (state[start]) continue;
    state[start] = 1;
    const stack = [{ at: start, next: 0 }];
    while (stack.length) {
      const top = stack[stack.length - 1];
      if (top.next === all[top.at].length) {
        state[top.at] = 2;
        stack.pop();
        continue;
      }
      const to = all[top.at][top.next++];
      if (state[to] === 1) continue;
      down[top.at].push(to);
      up[to].push(top.at);
      if (state[to] === 0) {
        state[to] = 1;
        stack.push({ at: to, next: 0 });
      }
    }
  }
  return { down, up };
}

/** @param {number[][]} down @param {number[][]} up */
function ranksOf(down, up) {
  const rank = new Array(down.length).fill(0);
  const open = up.map((list) => list.length);
  const queue = open.flatMap((count, at) => (count === 0 ? [at] : []));
  for (let head = 0; head < queue.length; head++) {
    for (const to of down[queue[head]]) {
      rank[to] = Math.max(rank[to], rank[queue[head]] + 1);
      if (--open[to] === 0) queue.push(to);
    }
  }
  // Nodes without inputs stand directly above their first use.
  up.forEach((list, at) => {
    if (list.length === 0 && down[at].length) rank[at] = Math.max(0, Math.min(...down[at].map((to) => rank[to])) - 1);
  });
  return rank;
}

/**
 * Moves the nodes of a row to the mean of their neighbours, in order and without overlaps.
 * @param {number[]} row
 * @param {number[][]} around
 * @param {number[]} x
 * @param {Size[]} nodes
 */
function settle(row, around, x, nodes) {
  const wanted = new Map(
    row.map((at) => [at, around[at].length ? around[at].reduce((sum, other) => sum + x[other], 0) / around[at].length : x[at]]),
  );
  row.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
  let right = -Infinity;
  let shift = 0;
  for (const at of row) {
    const half = nodes[at].width / 2;
    x[at] = Math.max(wanted.get(at) ?? 0, right + GAP_X + half);
    shift += x[at] - (wanted.get(at) ?? 0);
    right = x[at] + half;
  }
  for (const at of row) x[at] -= shift / row.length;
}

/**
 * @param {Size[]} nodes
 * @param {[string, string][]} edges
 * @returns {Place[]}
 */
export function layered(nodes, edges) {
  const { down, up } = neighbours(nodes, edges);
  const rank = ranksOf(down, up);
  /** @type {number[][]} */
  const rows = [];
  rank.forEach((row, at) => (rows[row] ??= []).push(at));
  for (let row = 0; row < rows.length; row++) rows[row] ??= [];
  const x = new Array(nodes.length).fill(0);
  const nothing = nodes.map(() => /** @type {number[]} */ ([]));
  for (const row of rows) settle(row, nothing, x, nodes);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (let row = 1; row < rows.length; row++) settle(rows[row], up, x, nodes);
    for (let row = rows.length - 2; row >= 0; row--) settle(rows[row], down, x, nodes);
  }
  let top = 0;
  const y = new Array(nodes.length).fill(0);
  for (const row of rows) {
    const height = row.reduce((most, at) => Math.max(most, nodes[at].height), 0);
    for (const at of row) y[at] = top + height / 2;
    top += height + GAP_Y;
  }
  return nodes.map((node, at) => ({ id: node.id, x: x[at], y: y[at] }));
}
