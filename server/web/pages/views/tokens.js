// @ts-check
// Names and roles of tokens, and what their senders sent. The server never sends a token's value.
import { h } from "../core/dom.js";
import { count } from "../core/format.js";
import { href } from "../core/url.js";
import { mountList } from "../parts/list_view.js";
import { empty } from "../parts/states.js";
import { text } from "../parts/text.js";
import { when } from "../parts/values.js";

/** @typedef {import("api").TokenList["items"][number]} Token */

/** @param {Token} row */
function stateOf(row) {
  if (row.in_token_file === null) return "no token file";
  if (!row.in_token_file) return row.name === null ? "–" : "removed";
  return row.expires_unix_ms !== null && row.expires_unix_ms < Date.now()
    ? h("span", { class: "badge state-abandoned" }, "expired")
    : "valid";
}

/** @type {import("../core/page.js").View["mount"]} */
export function mount(page) {
  /** @type {import("../parts/list_view.js").ListOptions<import("api").TokenList>} */
  const options = {
    title: "Tokens",
    help: "Names of tokens, and what arrived with them. The values of tokens are known to their owners only.",
    path: "/tokens",
    noun: "tokens",
    filters: [],
    whole: true,
    columns: [
      {
        title: "Name",
        head: true,
        cell: (
          row,
        ) => (row.name === null ? h("span", { class: "unknown" }, "without a token") : text(row.name, { length: 60 })),
      },
      { title: "Role", cell: (row) => text(row.role) },
      { title: "State", cell: stateOf },
      { title: "Expires", cell: (row) => when(row.expires_unix_ms) },
      {
        title: "Attempts",
        number: true,
        cell: (row) => h("a", { href: href("/runs", { sender: row.name ?? "" }) }, count(row.attempts)),
      },
      {
        title: "Producers",
        number: true,
        cell: (row) => h("a", { href: href("/producers", { sender: row.name ?? "" }) }, count(row.producers)),
      },
      {
        title: "Rejects",
        number: true,
        cell: (row) => h("a", { href: href("/rejects", { sender: row.name ?? "" }) }, count(row.rejects)),
      },
      { title: "Newest connection", cell: (row) => when(row.last_opened_unix_ms) },
    ],
    empty: () => empty("No tokens and no senders", "Create a token with ", h("code", {}, "telemetry-collector token add"), "."),
  };
  mountList(page, options);
}
