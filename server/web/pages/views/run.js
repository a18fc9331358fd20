// @ts-check
// One run: its numbers, and tabs with its search, knobs, failures, finals, measurements and attempts.
import { h } from "../core/dom.js";
import { listen } from "../core/live.js";
import { newPage } from "../core/page.js";
import { query } from "../core/url.js";
import { tabs } from "../parts/filters.js";
import { attemptPanel } from "./run/attempts.js";
import { configsPanel } from "./run/scatter.js";
import { bestPanel } from "./run/best.js";
import { convergencePanel } from "./run/convergence.js";
import { differencePanel } from "./run/difference.js";
import { effectsPanel, pairsPanel } from "./run/effects.js";
import { failuresPanel, statusesPanel } from "./run/failures.js";
import { finalsPanel } from "./run/finals.js";
import { headPanel } from "./run/head.js";
import { parallelPanel } from "./run/parallel.js";
import { rowsPanel } from "./run/rows.js";

/** @typedef {import("../core/page.js").Page} Page */
/** @typedef {{element: HTMLElement, reload: () => void}} Panel */

/** @type {[string, string, (page: Page) => Panel[]][]} */
const TABS = [
  [
    "summary",
    "Summary",
    (
      page,
    ) => [
      convergencePanel(page),
      bestPanel(page),
      differencePanel(page),
      effectsPanel(page, true),
      statusesPanel(page, "half"),
    ],
  ],
  ["knobs", "Knobs", (page) => [effectsPanel(page, false), configsPanel(page), parallelPanel(page), pairsPanel(page)]],
  ["failures", "Failures", (page) => [failuresPanel(page), statusesPanel(page)]],
  ["finals", "Finals", (page) => [finalsPanel(page)]],
  ["rows", "Measurements", (page) => [rowsPanel(page)]],
  ["attempts", "Attempts", (page) => [attemptPanel(page)]],
];

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  page.title("Run");
  const head = headPanel(page);
  const bar = h("div");
  const content = h("div", { class: "tab-content" });
  page.root.append(head.element, bar, content);
  let current = "";
  /** @type {ReturnType<typeof newPage> | null} */
  let part = null;
  /** @type {Panel[]} */
  let panels = [];

  const show = () => {
    const wanted = query().get("tab");
    const [name, , build] = TABS.find(([name]) => name === wanted) ?? TABS[0];
    const focused = bar.contains(document.activeElement);
    bar.replaceChildren(tabs("Parts of the run", "tab", TABS.map(([name, label]) => [name, label])));
    if (focused) /** @type {HTMLElement | null} */ (bar.querySelector("[aria-current]"))?.focus();
    if (name === current) return part?.changed();
    current = name;
    part?.end();
    part = newPage(content, page.path, page.signal);
    panels = build(part.page);
    content.replaceChildren(...panels.map((panel) => panel.element));
  };
  page.onQuery(show);
  show();

  let seen = "";
  listen(page.path[0], page.signal, ({ run }) => {
    const state = run ? `${run.attempts} ${run.rows}` : "";
    if (seen && state !== seen) [head, ...panels].forEach((panel) => panel.reload());
    seen = state;
  });
}
