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
 * Returns ticks 1, 2, 5 of each decade, or steps where the range is short.
 * @param {number} min
 * @param {number} max
 * @returns {number[]}
 */
export function logTicks(min, max) {
  /** @type {number[]} */
  const ticks = [];
  for (let decade = 10 ** Math.floor(Math.log10(min)); decade <= max; decade *= 10) {
    for (const step of [1, 2, 5]) if (decade * step >= min && decade * step <= max) ticks.push(decade * step);
  }
  if (ticks.length > 8) return ticks.filter((tick) => /^1(e|0*$|$)/.test(tick.toExponential(0).split("e")[0]));
  return ticks.length >= 3 ? ticks : linearTicks(min, max);
}

/**
 * @param {number} min
 * @param {number} max
 * @param {number} [wanted]
 */
export function linearTicks(min, max, wanted = 5) {
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
