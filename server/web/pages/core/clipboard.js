// @ts-check
// Copies texts.

/**
 * Copies a text by a selected field: browsers have no clipboard API on pages without TLS.
 * @param {string} text
 */
function copySelected(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (!copied) throw new Error("the browser does not allow to copy");
}

/**
 * Copies a text to the clipboard.
 * @param {string} text
 */
export async function copyText(text) {
  if (navigator.clipboard) await navigator.clipboard.writeText(text);
  else copySelected(text);
}
