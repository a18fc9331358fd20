// @ts-check
// The state of every view: the path and the query of the URL.

/** @typedef {{[name: string]: string | number | boolean | string[] | null | undefined}} Values */

/**
 * Returns a URL of this site. Values that are null or undefined are left out; an array repeats its name.
 * @param {string} path
 * @param {Values | URLSearchParams} [values]
 */
export function href(path, values = {}) {
  const query = values instanceof URLSearchParams ? values : new URLSearchParams();
  if (!(values instanceof URLSearchParams)) {
    for (const [name, value] of Object.entries(values)) {
      if (Array.isArray(value)) value.forEach((one) => query.append(name, one));
      else if (value !== null && value !== undefined) query.append(name, String(value));
    }
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** Returns the query of the current URL. */
export function query() {
  return new URLSearchParams(location.search);
}

/**
 * Returns the current URL with other values in its query; null removes a name.
 * @param {Values} changes
 */
export function here(changes) {
  const values = query();
  for (const [name, value] of Object.entries(changes)) {
    values.delete(name);
    if (Array.isArray(value)) value.forEach((one) => values.append(name, one));
    else if (value !== null && value !== undefined && value !== "") values.set(name, String(value));
  }
  return href(location.pathname, values);
}

/**
 * Goes to a URL of this site. `replace` keeps the length of the history, for changes that the back button skips.
 * @param {string} url
 * @param {{replace?: boolean, state?: any}} options
 */
export function go(url, { replace = false, state = null } = {}) {
  if (url === location.pathname + location.search) return;
  if (replace) history.replaceState(state, "", url);
  else history.pushState(state, "", url);
  dispatchEvent(new PopStateEvent("popstate", { state }));
}

/**
 * Changes values in the query of the current URL.
 * @param {Values} changes
 * @param {{replace?: boolean, state?: any}} [options]
 */
export function change(changes, options) {
  go(here(changes), options);
}

/**
 * Returns these names of a query as one text, to compare two queries.
 * @param {URLSearchParams} values
 * @param {string[]} names
 */
export function part(values, names) {
  return JSON.stringify(names.map((name) => values.getAll(name)));
}
