// @ts-check
// Starts the pages: session, theme, navigation, views.
import "./core/trusted_types.js";
import { session } from "./core/api.js";
import { startRouter } from "./core/router.js";
import { watchTheme } from "./core/theme.js";
import { drawTop } from "./parts/top.js";
import { signInView } from "./views/sign_in.js";

const RUN = "([0-9a-f]{64})";

/** @type {import("./core/router.js").Route[]} */
const ROUTES = [
  [/^\/$/, () => import("./views/overview.js")],
  [/^\/runs$/, () => import("./views/runs.js")],
  [new RegExp(`^/run/${RUN}$`), () => import("./views/run.js")],
  [new RegExp(`^/run/${RUN}/config/([0-9a-f]{16})$`), () => import("./views/config.js")],
  [new RegExp(`^/run/${RUN}/graph$`), () => import("./views/graph.js")],
  [/^\/attempt\/([0-9a-f]{32})$/, () => import("./views/attempt.js")],
  [/^\/compare$/, () => import("./views/compare.js")],
  [/^\/kernels$/, () => import("./views/kernels.js")],
  [/^\/kernel$/, () => import("./views/kernel.js")],
  [/^\/kernel\/history$/, () => import("./views/history.js")],
  [/^\/kernel\/source$/, () => import("./views/source.js")],
  [/^\/regressions$/, () => import("./views/regressions.js")],
  [/^\/rejects$/, () => import("./views/rejects.js")],
  [/^\/rejects\/([0-9]{1,18})$/, () => import("./views/reject.js")],
  [/^\/producers$/, () => import("./views/producers.js")],
  [/^\/cache$/, () => import("./views/cache.js")],
  [/^\/cache\/([0-9]{1,18})$/, () => import("./views/cache_entry.js")],
  [/^\/tokens$/, () => import("./views/tokens.js")],
  [/^\/about$/, () => import("./views/about.js")],
  [/^/, () => import("./views/not_found.js")],
];

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const top_bar = /** @type {HTMLElement} */ (document.getElementById("top"));

watchTheme();
const router = startRouter(main, ROUTES);

/** Shows the view of the URL, or the form to sign in. */
async function start() {
  const current = await session().catch(() => null);
  drawTop(top_bar, current);
  if (current && current.sign_in_required && !current.signed_in) {
    router.reset();
    main.replaceChildren(signInView(() => void start()));
  } else {
    router.show();
  }
}

addEventListener("signed-out", () => void start());
addEventListener("view-change", () => drawTop.current(top_bar));
void start();
