// @ts-check
// The best config in its tuner's own syntax, and the command that runs it again.
import { h } from "../../core/dom.js";
import { configHref, senderOf } from "../../parts/links.js";
import { panel } from "../../parts/panel.js";
import { empty } from "../../parts/states.js";
import { codeBlock } from "../../parts/text.js";
import { runOf } from "./request.js";

/** @param {import("../../core/page.js").Page} page */
export function bestPanel(page) {
  return panel(page, {
    title: "Best config",
    help: "Ready to paste into the kernel's source.",
    kind: "half",
    name: "best-config",
    request: (query) => ({ path: `/runs/${page.path[0]}`, values: senderOf(query) }),
    draw: (/** @type {import("api").Run} */ run, query) => {
      const { best } = run;
      if (!best) return empty("No config has a time yet", "The tab Failures tells why configs failed.");
      return [
        codeBlock(best.decorator ?? best.text ?? best.json ?? best.config_id, "config"),
        run.repro ? [h("h3", {}, "Run it again"), codeBlock(run.repro, "command")] : [],
        h(
          "p",
          {},
          h("a", { href: configHref(runOf(page, query), best.config_id) }, "All measurements and the code of this config"),
        ),
      ].flat();
    },
  });
}
