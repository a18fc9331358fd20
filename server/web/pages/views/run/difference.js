// @ts-check
// How the best config differs from the default, which is the first config that the search measured.
import { get } from "../../core/api.js";
import { h, replace } from "../../core/dom.js";
import { counted, time, times } from "../../core/format.js";
import { configHref, senderOf } from "../../parts/links.js";
import { panel } from "../../parts/panel.js";
import { empty, failed, loading } from "../../parts/states.js";
import { table } from "../../parts/table.js";
import { shortId, text } from "../../parts/text.js";
import { runOf } from "./request.js";

/** @typedef {import("api").Run} Run */
/** @typedef {import("api").ConfigDetail} ConfigDetail */
/** @typedef {{name: string, before: string | null, after: string | null}} Difference */

/**
 * Returns the arguments whose values differ.
 * @param {ConfigDetail} before
 * @param {ConfigDetail} after
 */
function differences(before, after) {
  const old = new Map(before.arguments.map((one) => [one.name, one.text]));
  const now = new Map(after.arguments.map((one) => [one.name, one.text]));
  const names = [...new Set([...old.keys(), ...now.keys()])];
  /** @type {Difference[]} */
  const all = names.map((name) => ({ name, before: old.get(name) ?? null, after: now.get(name) ?? null }));
  const found = all.filter((one) => one.before !== one.after);
  return { found, same: all.length - found.length };
}

/**
 * @param {Run} run
 * @param {URLSearchParams} query
 * @param {AbortSignal} signal
 */
async function bothConfigs(run, query, signal) {
  const path = `/runs/${run.run_id}`;
  const values = senderOf(query);
  const first = { ...values, attempt: run.best_attempt_id, status: "ok", sort: "seq", limit: 1 };
  /** @type {import("api").RowList} */
  const rows = await get({ path: `${path}/rows`, values: first }, signal);
  if (rows.items.length === 0) return null;
  const ids = [rows.items[0].config_id, run.best_config_id];
  /** @type {[ConfigDetail, ConfigDetail]} */
  const configs = /** @type {any} */ (
    await Promise.all(ids.map((id) => get({ path: `${path}/configs/${id}`, values }, signal)))
  );
  return configs;
}

/**
 * @param {[ConfigDetail, ConfigDetail] | null} configs
 * @param {Run} run
 * @param {{run_id: string, sender?: string | null}} key
 */
function drawDifference(configs, run, key) {
  if (!configs) return empty("No config to compare with", "The attempt has no measured config.");
  const [before, after] = configs;
  if (before.config_id === after.config_id) return empty("The default is the best config", "The search found nothing faster.");
  const { found, same } = differences(before, after);
  return [
    table({
      label: "Differences to the default",
      rows: found,
      columns: [
        { title: "Knob", head: true, cell: (one) => text(one.name, { length: 40, code: true }) },
        { title: "Default", cell: (one) => text(one.before, { length: 40, code: true }) },
        { title: "Best", cell: (one) => text(one.after, { length: 40, code: true }) },
      ],
    }),
    h(
      "p",
      { class: "note" },
      `${time(run.default_ms)} to ${time(run.best_ms)} (${times(run.speedup)}); ${
        counted(same, "knob")
      } without a change. Default: `,
      shortId(before.config_id, "config id", configHref(key, before.config_id)),
    ),
  ];
}

/** @param {import("../../core/page.js").Page} page */
export function differencePanel(page) {
  return panel(page, {
    title: "From the default to the best config",
    kind: "half",
    name: "run",
    request: (query) => ({ path: `/runs/${page.path[0]}`, values: senderOf(query) }),
    draw: (/** @type {Run} */ run, query) => {
      if (!run.best_config_id) return empty("No config has a time yet", "The tab Failures tells why configs failed.");
      const body = h("div", { class: "sub" }, loading("Comparing"));
      const load = () => {
        bothConfigs(run, query, page.signal)
          .then((configs) => replace(body, drawDifference(configs, run, runOf(page, query))))
          .catch((error) => page.signal.aborted || replace(body, failed(error, load)));
      };
      load();
      return body;
    },
  });
}
