// @ts-check
// Ranges and ticks of axes.
import { significant } from "../core/format.js";

/**
 * Returns a range with a margin around the values.
 * @param {number} min
 * @param {number} max
 * @param {boolean} log
 * @returns {[number, number]}
 */
export function padded(min, max, log) {
  if (log) return min > 0 ? [min / 1.06, max * 1.06] : [1e-3, 1];
  const margin = (max - min) * 0.05 || Math.abs(max) * 0.05 || 1;
  return [min - margin, max + margin];
}

/**
 * Returns ticks 1, 2, 5 of each decade; more where the range is short, fewer where it is long.
 * @param {number} min
 * @param {number} max
 * @returns {number[]}
 */
export function logTicks(min, max) {
  if (!(min > 0) || !(max > min) || !Number.isFinite(max)) return [];
  for (const steps of max / min > 1e4 ? [[1]] : [[1, 2, 5], [1, 1.5, 2, 3, 4, 5, 7]]) {
    /** @type {number[]} */
    const ticks = [];
    for (let exponent = Math.floor(Math.log10(min)); 10 ** exponent <= max; exponent++) {
      for (const step of steps) ticks.push(Number((step * 10 ** exponent).toPrecision(2)));
    }
    const inside = ticks.filter((tick) => tick >= min && tick <= max);
    if (inside.length >= 3) return inside;
  }
  return linearTicks(min, max);
}

/**
 * @param {number} min
 * @param {number} max
 * @param {number} [wanted]
 */
export function linearTicks(min, max, wanted = 5) {
  if (!(max > min) || !Number.isFinite(max - min)) return [];
  const raw = (max - min) / wanted;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((step) => step >= raw) ?? size * 10;
  /** @type {number[]} */
  const ticks = [];
  for (let tick = Math.ceil(min / step) * step; tick <= max; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}

/** @param {number} value */
export function tickText(value) {
  if (value !== 0 && (Math.abs(value) >= 1e7 || Math.abs(value) < 1e-4)) return value.toExponential(1);
  return value.toLocaleString("en-US", { maximumSignificantDigits: 6 });
}

/**
 * Returns a number for a tooltip.
 * @param {number} value
 */
export function exact(value) {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : significant(value, 5);
}

/**
 * Returns the distance of a point from the middle of its category, always the same for the same index: −0.3 to 0.3.
 * @param {number} index
 */
export function jitter(index) {
  const mixed = Math.imul(index ^ (index >>> 7), 2654435761) >>> 0;
  return (mixed / 4294967296 - 0.5) * 0.6;
}
