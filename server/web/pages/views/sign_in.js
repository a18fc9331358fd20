// @ts-check
// The form to sign in with a token.
import { signIn } from "../core/api.js";
import { h } from "../core/dom.js";
import { visible } from "../parts/text.js";

/** @param {() => void} done */
export function signInView(done) {
  document.title = "Sign in · autotune telemetry";
  const message = h("p", { class: "form-error", role: "alert" });
  const token = h("input", {
    id: "token",
    type: "password",
    autocomplete: "current-password",
    required: true,
    maxlength: 200,
    spellcheck: "false",
  });
  const button = h("button", { type: "submit", class: "primary" }, "Sign in");
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    message.textContent = "";
    try {
      await signIn(token.value.trim());
      done();
    } catch (error) {
      message.textContent = visible(error instanceof Error ? error.message : String(error));
      token.select();
    }
    button.disabled = false;
  };
  return h(
    "div",
    { class: "view sign-in" },
    h(
      "form",
      { class: "panel", onsubmit: submit },
      h("h1", {}, "Sign in"),
      h("p", {}, "These pages need a token with the reader role."),
      h("label", { for: "token" }, "Token"),
      token,
      message,
      button,
      h(
        "p",
        { class: "note" },
        "An operator creates tokens with ",
        h("code", {}, "telemetry-collector token add --role reader"),
        ".",
      ),
    ),
  );
}
