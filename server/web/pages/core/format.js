// @ts-check
// Formats numbers with units. A value that is not known is an en dash.

export const UNKNOWN = "–";

const integer = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** @type {[number, string][]} */
const TIME_UNITS = [[1000, "s"], [1, "ms"], [1e-3, "µs"], [1e-6, "ns"]];

/** @typedef {{unit: string, scale: number, text: (ms: number | null | undefined) => string}} TimeScale */

/**
 * Returns a number with `digits` significant digits and thousands separators.
 * @param {number} value
 * @param {number} [digits]
 */
export function significant(value, digits = 4) {
  if (value === 0) return "0";
  if (Math.abs(value) < 1e-4) return value.toExponential(digits - 1);
  const decimals = Math.max(0, Math.min(12, digits - 1 - Math.floor(Math.log10(Math.abs(value)))));
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** @param {number | null | undefined} value */
export function count(value) {
  return value === null || value === undefined ? UNKNOWN : integer.format(value);
}

/**
 * Returns a number with its noun: "1 config", "1,200 configs".
 * @param {number} value
 * @param {string} noun in the singular
 */
export function counted(value, noun) {
  return `${count(value)} ${value === 1 ? noun : noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
}

/**
 * Returns the unit in which times of this size are read best, so that a chart or a column has one unit.
 * @param {Iterable<number | null | undefined>} times_ms
 * @returns {TimeScale}
 */
export function timeScale(times_ms) {
  let least = Infinity;
  for (const time of times_ms) if (time !== null && time !== undefined && time > 0) least = Math.min(least, time);
  const [size, unit] = TIME_UNITS.find(([size]) => least >= size) ?? (least === Infinity ? [1, "ms"] : [1e-6, "ns"]);
  return { unit, scale: 1 / size, text: (ms) => (ms === null || ms === undefined ? UNKNOWN : significant(ms / size)) };
}

/**
 * Returns a time with its unit: "12.34 µs".
 * @param {number | null | undefined} ms
 */
export function time(ms) {
  if (ms === null || ms === undefined) return UNKNOWN;
  const scale = timeScale([ms]);
  return `${scale.text(ms)} ${scale.unit}`;
}

/**
 * Returns a duration: "850 ms", "12.3 s", "3 min 12 s", "2 h 5 min", "3 d 4 h".
 * @param {number | null | undefined} seconds
 */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return UNKNOWN;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${significant(seconds, 3)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${count(Math.floor(whole / 86400))} d ${Math.floor((whole % 86400) / 3600)} h`;
}

/** @param {number | null | undefined} bytes */
export function bytes(bytes) {
  if (bytes === null || bytes === undefined) return UNKNOWN;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = bytes;
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return `${unit === 0 ? count(size) : significant(size, 3)} ${units[unit]}`;
}

/**
 * @param {number | null | undefined} share
 * @param {number} [digits] decimals
 */
export function percent(share, digits = 1) {
  if (share === null || share === undefined) return UNKNOWN;
  return `${(share * 100).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })} %`;
}

/**
 * Returns a factor: "1.85×".
 * @param {number | null | undefined} factor
 */
export function times(factor) {
  return factor === null || factor === undefined ? UNKNOWN : `${significant(factor, 3)}×`;
}

/**
 * Returns a ratio of times as a change: "+3.2 %" is slower.
 * @param {number | null | undefined} ratio
 */
export function change(ratio) {
  if (ratio === null || ratio === undefined) return UNKNOWN;
  if (ratio >= 10) return times(ratio);
  const share = (ratio - 1) * 100;
  const text = Math.abs(share).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  return `${text === "0.0" ? "±" : share < 0 ? "−" : "+"}${text} %`;
}

/** @param {number | null | undefined} unix_ms */
export function utc(unix_ms) {
  if (unix_ms === null || unix_ms === undefined) return UNKNOWN;
  const date = new Date(unix_ms);
  return Number.isNaN(date.getTime()) ? UNKNOWN : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/**
 * Returns a point in time relative to now: "3 h ago".
 * @param {number | null | undefined} unix_ms
 * @param {number} [now_ms]
 */
export function ago(unix_ms, now_ms = Date.now()) {
  if (unix_ms === null || unix_ms === undefined || Number.isNaN(new Date(unix_ms).getTime())) return UNKNOWN;
  const seconds = Math.round((now_ms - unix_ms) / 1000);
  const size = Math.abs(seconds);
  const text = size < 60
    ? `${size} s`
    : size < 3600
    ? `${Math.round(size / 60)} min`
    : size < 172800
    ? `${Math.round(size / 3600)} h`
    : `${count(Math.round(size / 86400))} d`;
  return seconds < 0 ? `in ${text}` : seconds < 2 ? "now" : `${text} ago`;
}
