/** The six controls, and the native inputs that speak for them. */
import { byId, say } from "./dom";
import type { Explorer } from "./explorer";
import { compactNumber } from "./numbers";
import { BETA_STEPS, betaOf, DIMENSIONS, nearestPlace, positionOf, speedOf, stepBeta, TOKEN_COUNTS } from "./scales";
import { betaInWords, dimensionInWords } from "./words";

export class Controls {
  private readonly beta = byId<HTMLInputElement>("beta");
  private readonly betaNumber = byId<HTMLInputElement>("beta-number");
  private readonly n = byId<HTMLInputElement>("n");
  private readonly nNumber = byId<HTMLInputElement>("n-number");
  private readonly d = byId<HTMLInputElement>("d");
  private readonly dNumber = byId<HTMLInputElement>("d-number");
  private readonly speed = byId<HTMLInputElement>("speed");
  private readonly play = byId<HTMLButtonElement>("play");
  private readonly scrub = byId<HTMLInputElement>("scrub");

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
    this.speed.value = "50";
    this.speed.addEventListener("input", () => this.setSpeed());
    this.setSpeed();
    this.play.addEventListener("click", () => explorer.toggle());
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

  private exact(input: HTMLInputElement, change: (value: number) => void): void {
    input.addEventListener("change", () => {
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
      if (document.activeElement !== input || input.valueAsNumber !== value) input.value = String(value);
    }
    say(byId("beta-words"), betaInWords(beta));
    say(byId("d-words"), dimensionInWords(d));
  }

  private showPlaying(): void {
    say(this.play, this.explorer.player.playing ? "Pause" : "Play");
  }

  private showMoment(): void {
    const { player, run, last } = this.explorer;
    if (this.scrub.valueAsNumber !== player.frame) this.scrub.value = String(player.frame);
    const t = run?.frames[player.frame]?.t ?? 0;
    this.scrub.setAttribute("aria-valuetext", `frame ${player.frame + 1} of ${last + 1}, t = ${compactNumber(t)}`);
  }

  private showPlateaus(): void {
    const none = (this.explorer.run?.plateaus.length ?? 0) === 0;
    byId<HTMLButtonElement>("plateau-before").disabled = none;
    byId<HTMLButtonElement>("plateau-after").disabled = none;
    this.scrub.max = String(this.explorer.last);
  }
}
