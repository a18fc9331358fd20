// @ts-check
// Detected steps of all kernels.
import { choice, clearLink, day } from "../parts/filters.js";
import { mountList } from "../parts/list_view.js";
import { empty } from "../parts/states.js";
import { STEP_COLUMNS } from "../parts/steps.js";
import { summariesNote } from "../parts/summaries.js";

const FILTERS = ["kernel", "hardware", "since", "until", "direction", "series"];

/** @param {string[]} texts */
function choices(texts) {
  return texts.map((text) => ({ label: text, filter: text }));
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  /** @type {import("../parts/list_view.js").ListOptions<import("api").StepList>} */
  const options = {
    title: "Regressions",
    help: "Steps of the best or the default time, beyond the noise of the attempts before; the newest first.",
    path: "/regressions",
    noun: "steps",
    filters: FILTERS,
    columns: STEP_COLUMNS,
    controls: () => [
      choice("Direction", "direction", choices(["slower", "faster", "both"]), { any: null, initial: "slower" }),
      choice("Config", "series", choices(["both", "best", "default"]), { any: null, initial: "both" }),
      day("From (UTC)", "since"),
      day("To (UTC)", "until"),
      clearLink(FILTERS),
    ],
    before: (data) => summariesNote(data.summaries),
    empty: (filtered) =>
      empty(
        filtered ? "No step matches these filters" : "No kernel became slower",
        filtered
          ? clearLink(FILTERS)
          : "Steps are detected where a kernel was tuned again with the same shapes, dtypes and hardware.",
      ),
  };
  mountList(page, options);
}
