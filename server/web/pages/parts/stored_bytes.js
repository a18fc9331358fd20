// @ts-check
// Bytes of the dataset: as text, or in hex.
import { h } from "../core/dom.js";
import { bytes } from "../core/format.js";
import { codeBlock } from "./text.js";

/** @param {string} text */
function pretty(text) {
  try {
    return text.length < 65_536 ? JSON.stringify(JSON.parse(text), null, 2) : text;
  } catch {
    return text;
  }
}

/**
 * @param {import("api").Bytes} stored
 * @param {string} what
 */
export function storedBytes(stored, what) {
  const shown = stored.text === null
    ? (stored.hex ?? "").replace(/(..)/g, "$1 ").replace(/(.{48})/g, "$1\n")
    : pretty(stored.text);
  return h(
    "div",
    {},
    h(
      "p",
      { class: "note" },
      `${bytes(stored.bytes)}, ${stored.text === null ? "in hex" : "as text"}${
        stored.truncated ? "; only the first 64 KiB are shown" : ""
      }`,
    ),
    codeBlock(shown, what),
  );
}
