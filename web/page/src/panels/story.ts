/** Playing the story: set the state, ask, play, explain. One button is enough. */
import { byId, element, say } from "../dom";
import type { Explorer } from "../explorer";
import { STEPS, type Step } from "./steps";

type Phase = "asking" | "playing" | "told";

export class StoryPanel {
  private index = -1;
  private phase: Phase = "asking";
  private readonly title = element("h2", { tabindex: "-1" });
  private readonly place = element("p", { class: "small" });
  private readonly setting = element("p");
  private readonly choices = element("fieldset", { class: "choices" });
  private readonly told = element("p", { class: "told", "aria-live": "polite" });
  private readonly main = element("button", { type: "button", class: "primary", id: "story-main" });
  private readonly back = element("button", { type: "button", id: "story-back" }, "Back");

  constructor(private readonly explorer: Explorer) {
    byId("story").append(this.place, this.title, this.setting, this.choices, this.told, element("div", { class: "buttons" }, this.main, this.back));
    this.main.addEventListener("click", () => this.advance());
    this.back.addEventListener("click", () => this.go(this.index - 1));
    explorer.on("moment", () => this.follow());
    explorer.on("done", () => this.follow());
    explorer.on("run", () => this.draw());
    explorer.on("notice", () => this.draw());
    explorer.on("state", () => this.leave());
    this.draw();
  }

  /** A question is open: the answer must not be on the page. */
  get active(): boolean {
    return this.index >= 0 && this.explorer.state.view.panel === "story" && this.phase !== "told";
  }

  /** Whoever touches a control has left the story. */
  private leave(): void {
    const asked = STEPS[this.index]?.state;
    const { state } = this.explorer;
    if (asked === undefined || (state.beta === asked.beta && state.n === asked.n && state.d === asked.d)) return;
    this.index = -1;
    this.draw();
  }

  /** Set the state of step k and ask its question. */
  go(k: number): void {
    if (k < 0 || k >= STEPS.length) return;
    this.index = k;
    this.phase = "asking";
    const { state } = STEPS[k] as Step;
    const { theme } = this.explorer.state.view;
    this.explorer.load({ ...state, view: { ...state.view, theme, frame: 0 } });
    this.draw();
    this.title.focus({ preventScroll: true });
  }

  private advance(): void {
    if (this.index < 0) return this.go(0);
    if (this.explorer.pending) return;
    if (this.phase === "asking") {
      this.phase = "playing";
      this.explorer.goto(0);
      this.explorer.play();
      return this.draw();
    }
    if (this.phase === "playing") {
      this.explorer.goto(this.explorer.last);
      return this.follow();
    }
    this.go((this.index + 1) % STEPS.length);
  }

  /** When the play head has reached the end of a finished run, explain. */
  private follow(): void {
    const { run, player } = this.explorer;
    if (this.phase !== "playing" || run === null || run.done === null || player.playing || player.frame < run.last) return;
    this.phase = "told";
    this.draw();
  }

  private draw(): void {
    const step = STEPS[this.index];
    this.back.hidden = this.index < 1;
    this.choices.hidden = step === undefined;
    if (step === undefined) {
      for (const old of [this.told, this.place]) say(old, "");
      say(this.title, "A story in eight steps");
      say(this.setting, "Each step sets the stage, asks what you expect, plays, and explains. You need only one button.");
      say(this.main, "Begin");
      return;
    }
    say(this.place, `Step ${this.index + 1} of ${STEPS.length}`);
    say(this.title, step.title);
    say(this.setting, step.setting);
    this.drawChoices(step);
    const run = this.explorer.run;
    say(this.told, this.phase === "told" && run !== null ? step.explanation(run) : "");
    const waiting = this.explorer.pending && this.phase === "asking";
    this.main.setAttribute("aria-disabled", String(waiting));
    say(this.main, waiting ? "Computing" : this.phase === "asking" ? "Play and see" : this.phase === "playing" ? "Skip to the end" : this.index + 1 < STEPS.length ? "Next step" : "From the beginning");
  }

  private drawChoices(step: Step): void {
    const run = this.explorer.run;
    const right = this.phase === "told" && run !== null ? step.verdict(run) : -1;
    const chosen = this.choices.dataset["step"] === String(this.index) ? this.chosen() : -1;
    this.choices.dataset["step"] = String(this.index);
    this.choices.replaceChildren(element("legend", {}, step.question));
    step.choices.forEach((text, k) => {
      const input = element("input", { type: "radio", name: "prediction", value: String(k) });
      input.checked = k === chosen;
      input.disabled = this.phase === "told";
      const mark = right < 0 ? "" : k === right ? " ✓ this is what happened" : k === chosen ? " ✗ your guess" : "";
      const label = element("label", { class: k === right ? "right" : "" }, input, ` ${text}${mark}`);
      this.choices.append(label);
    });
  }

  private chosen(): number {
    const checked = this.choices.querySelector<HTMLInputElement>("input:checked");
    return checked === null ? -1 : Number(checked.value);
  }
}
