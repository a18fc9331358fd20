// @ts-check
// The theme: "light", "dark", or the browser's preference. The URL's `theme` has precedence over the stored choice.

const KEY = "theme";

/** @returns {"light" | "dark" | null} */
function wanted() {
  const text = new URLSearchParams(location.search).get(KEY) ?? localStorage.getItem(KEY);
  return text === "light" || text === "dark" ? text : null;
}

/** Returns true if the page is dark. */
export function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

/** Applies the theme, and tells charts of a change. */
export function applyTheme() {
  const theme = wanted() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  if (document.documentElement.dataset.theme === theme) return;
  document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event("theme-change"));
}

export function toggleTheme() {
  localStorage.setItem(KEY, isDark() ? "light" : "dark");
  const url = new URL(location.href);
  url.searchParams.delete(KEY);
  history.replaceState(history.state, "", url);
  applyTheme();
}

export function watchTheme() {
  applyTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
}

/**
 * Returns a colour of the theme: color("--series-1").
 * @param {string} name
 */
export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
