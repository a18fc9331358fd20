// @ts-check
// The difference of two texts by lines.

/** @typedef {{kind: "same" | "removed" | "added", text: string, before: number | null, after: number | null}} DiffLine */

const MOST_CELLS = 4_000_000;

/**
 * Returns the length of the longest common subsequence from each pair of lines to the ends.
 * @param {string[]} a
 * @param {string[]} b
 */
function lengths(a, b) {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] = a[i] === b[j]
        ? table[(i + 1) * width + j + 1] + 1
        : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  return { table, width };
}

/**
 * Returns the lines of both texts: same, removed, added. Texts that are too long are compared as a whole.
 * @param {string} before
 * @param {string} after
 * @returns {DiffLine[]}
 */
export function diffLines(before, after) {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle_a = a.slice(start, a.length - end);
  const middle_b = b.slice(start, b.length - end);
  /** @type {DiffLine[]} */
  const lines = [];
  const same = (/** @type {number} */ i, /** @type {number} */ j) =>
    lines.push({ kind: "same", text: a[i], before: i + 1, after: j + 1 });
  const removed = (/** @type {number} */ i) => lines.push({ kind: "removed", text: a[i], before: i + 1, after: null });
  const added = (/** @type {number} */ j) => lines.push({ kind: "added", text: b[j], before: null, after: j + 1 });
  for (let i = 0; i < start; i++) same(i, i);
  if (middle_a.length * middle_b.length > MOST_CELLS) {
    middle_a.forEach((_, i) => removed(start + i));
    middle_b.forEach((_, j) => added(start + j));
  } else {
    const { table, width } = lengths(middle_a, middle_b);
    let i = 0;
    let j = 0;
    while (i < middle_a.length || j < middle_b.length) {
      if (i < middle_a.length && j < middle_b.length && middle_a[i] === middle_b[j]) same(start + i++, start + j++);
      else if (j >= middle_b.length || (i < middle_a.length && table[(i + 1) * width + j] >= table[i * width + j + 1])) {
        removed(start + i++);
      } else added(start + j++);
    }
  }
  for (let k = end; k > 0; k--) same(a.length - k, b.length - k);
  return lines;
}
