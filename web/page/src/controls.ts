/** The six controls, and the native inputs that speak for them. */
import { byId, element, say, seldom } from "./dom";
import { wordsOf, type Explorer } from "./explorer";
import { compactNumber } from "./numbers";
import { BETA_STEPS, betaOf, DIMENSIONS, nearestPlace, positionOf, speedOf, stepBeta, TOKEN_COUNTS } from "./scales";
import { controlOf } from "./state";
import { betaInWords, dimensionInWords, waitOf } from "./words";

export class Controls {
  private readonly beta = byId<HTMLInputElement>("beta");
  private readonly betaNumber = byId<HTMLInputElement>("beta-number");
  private readonly n = byId<HTMLInputElement>("n");
  private readonly nNumber = byId<HTMLInputElement>("n-number");
  private readonly d = byId<HTMLInputElement>("d");
  private readonly dNumber = byId<HTMLInputElement>("d-number");
  private readonly speed = byId<HTMLInputElement>("speed");
  private readonly play = byId<HTMLButtonElement>("play");
  /** The same on the stage itself. */
  private readonly round = byId<HTMLButtonElement>("stage-play");
  private readonly scrub = byId<HTMLInputElement>("scrub");
  private readonly due = seldom();
  /** The number that is being typed: an answer that comes meanwhile leaves it alone. */
  private typing: HTMLInputElement | null = null;

  constructor(private readonly explorer: Explorer) {
    this.beta.max = String(BETA_STEPS);
    this.n.max = String(TOKEN_COUNTS.length - 1);
    this.d.max = String(DIMENSIONS.length - 1);
    this.beta.addEventListener("input", () => explorer.change({ beta: betaOf(this.beta.valueAsNumber) }));
    this.n.addEventListener("input", () => explorer.change({ n: TOKEN_COUNTS[this.n.valueAsNumber] ?? 64 }));
    this.d.addEventListener("input", () => explorer.change({ d: DIMENSIONS[this.d.valueAsNumber] ?? 3 }));
    this.exact(this.betaNumber, (beta) => explorer.change({ beta }));
    this.exact(this.nNumber, (n) => explorer.change({ n }));
    this.exact(this.dNumber, (d) => explorer.change({ d }));
    const sentence = byId<HTMLInputElement>("sentence");
    sentence.addEventListener("change", () => this.name(sentence.value));
    explorer.on("state", () => {
      if (document.activeElement !== sentence) sentence.value = explorer.state.view.words ?? "";
    });
    this.speed.value = "50";
    this.speed.addEventListener("input", () => this.setSpeed());
    this.setSpeed();
    for (const button of [this.play, this.round]) button.addEventListener("click", () => explorer.toggle());
    this.scrub.addEventListener("input", () => explorer.goto(this.scrub.valueAsNumber));
    byId("plateau-before").addEventListener("click", () => explorer.jumpPlateau(-1));
    byId("plateau-after").addEventListener("click", () => explorer.jumpPlateau(1));
    for (const surface of [this.scrub, byId("ribbon")]) surface.addEventListener("pointerdown", () => explorer.hold(true));
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => explorer.hold(false));
    explorer.on("state", () => this.show());
    explorer.on("playing", () => this.showPlaying());
    explorer.on("frames", () => (this.scrub.max = String(explorer.last)));
    explorer.on("moment", () => this.showMoment());
    explorer.on("done", () => this.showPlateaus());
    explorer.on("run", () => this.showPlateaus());
  }

  /** One press of + or - on the keyboard. */
  nudgeBeta(direction: 1 | -1): void {
    this.explorer.change({ beta: stepBeta(this.explorer.state.beta, direction) });
  }

  /** The words of a sentence become the tokens: as many, and named so. */
  private name(sentence: string): void {
    const { n } = this.explorer.state;
    const words = wordsOf(sentence);
    this.explorer.view({ words: words.length === 0 ? null : sentence.trim() });
    if (words.length > 0 && words.length !== n) this.explorer.change({ n: words.length }, 0);
  }

  /** The exact number beside a slider; its name, help and range are declared in Python. */
  private exact(input: HTMLInputElement, change: (value: number) => void): void {
    const control = controlOf(input.id.replace("-number", ""));
    Object.assign(input, { min: String(control.low), max: String(control.high), step: control.kind === "whole" ? "1" : "any", title: control.help });
    say(document.querySelector(`label[for="${control.key}"]`) as HTMLElement, control.label);
    input.addEventListener("input", () => (this.typing = input));
    input.addEventListener("blur", () => (this.typing = null)); // typed back to what it was
    input.addEventListener("change", () => {
      this.typing = null;
      if (Number.isFinite(input.valueAsNumber)) change(input.valueAsNumber);
      else this.show();
    });
  }

  private setSpeed(): void {
    const speed = speedOf(this.speed.valueAsNumber);
    this.explorer.player.speed = speed;
    this.speed.setAttribute("aria-valuetext", `${speed} frames per second`);
    this.speed.title = `${speed} frames per second`;
  }

  private show(): void {
    const { beta, n, d } = this.explorer.state;
    const set = (input: HTMLInputElement, value: number, text: string): void => {
      if (input.valueAsNumber !== value) input.value = String(value);
      input.setAttribute("aria-valuetext", text);
    };
    set(this.beta, positionOf(beta), betaInWords(beta));
    set(this.n, nearestPlace(TOKEN_COUNTS, n), `${n} tokens`);
    set(this.d, nearestPlace(DIMENSIONS, d), dimensionInWords(d));
    for (const [input, value] of [[this.betaNumber, beta], [this.nNumber, n], [this.dNumber, d]] as const) {
      if (this.typing !== input && input.valueAsNumber !== value) input.value = String(value);
    }
    for (const input of [this.beta, this.betaNumber, this.n, this.nNumber, this.d, this.dNumber]) input.disabled = !this.explorer.changes(input.id.replace("-number", ""));
    const recorded = this.explorer.state.model === "recorded";
    say(byId("beta-words"), this.beta.disabled ? "This run has no β of its own, or several." : recorded ? "Recorded: β is that of the energy below, it moved nothing." : betaInWords(beta));
    const wide = this.explorer.accepted?.width ?? d;
    const spanned = recorded && wide > d ? `d = ${d} of ${wide} dimensions: all that these tokens span` : null;
    say(byId("d-words"), spanned ?? dimensionInWords(d, this.explorer.accepted?.space));
    this.showWait();
  }

  /** Random tokens of many dimensions are nearly orthogonal: with a large beta they wait long before they move. */
  private showWait(): void {
    const { beta, n, d, t1, model } = this.explorer.state;
    const begins = waitOf(beta, n);
    const hint = byId("d-hint");
    hint.hidden = d < 8 || model !== "sa" || 4 * begins < t1 || begins > 1e6;
    if (hint.hidden) return;
    const button = element("button", { type: "button", class: "chip" }, `Run to t = ${compactNumber(4 * begins, 1)}`);
    button.addEventListener("click", () => this.explorer.change({ t1: Number((4 * begins).toPrecision(1)) }));
    hint.replaceChildren(`Here little happens before t ≈ ${compactNumber(begins, 1)}. `, button);
  }

  private showPlaying(): void {
    const { player, last, complete } = this.explorer;
    const over = complete && last > 0 && player.frame >= last;
    say(this.play, player.playing ? "Pause" : "Play");
    this.round.dataset["shows"] = player.playing ? "pause" : over ? "again" : "play";
    this.round.setAttribute("aria-label", player.playing ? "Pause the stage" : over ? "Play again from the start" : "Play on the stage");
  }

  private showMoment(): void {
    const { player, run, last } = this.explorer;
    if (!this.due(player.playing)) return;
    if (this.scrub.valueAsNumber !== player.frame) this.scrub.value = String(player.frame);
    this.scrub.setAttribute("aria-valuetext", `frame ${player.frame + 1} of ${last + 1}, ${run?.moment(player.frame) ?? ""}`);
    if (!player.playing) this.showPlaying();
  }

  private showPlateaus(): void {
    const none = (this.explorer.run?.plateaus.length ?? 0) === 0;
    byId<HTMLButtonElement>("plateau-before").disabled = none;
    byId<HTMLButtonElement>("plateau-after").disabled = none;
    this.scrub.max = String(this.explorer.last);
  }
}
