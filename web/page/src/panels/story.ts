/** The story: chapters to scroll through beside a stage that stays. Each sets the state, asks, plays, explains. */
import declared from "../declared.json";
import { byId, element, say } from "../dom";
import type { Explorer } from "../explorer";
import { STEPS, type Step } from "./steps";

type Phase = "asking" | "playing" | "told";
/** A chapter counts when it reaches the middle of the window; a glance in passing does not. */
const MIDDLE = "-42% 0px -42% 0px";
const SETTLES = 300;

/** One chapter on the page. */
class Chapter {
  readonly node: HTMLElement;
  readonly title: HTMLElement;
  private readonly choices = element("fieldset", { class: "choices" });
  private readonly told = element("p", { class: "told", "aria-live": "polite" });
  private readonly source = element("p", { class: "source small" });
  readonly main = element("button", { type: "button", class: "primary" }, "Play and see");

  constructor(readonly step: Step, k: number) {
    this.title = element("h2", { tabindex: "-1" }, step.title);
    this.choices.append(element("legend", {}, step.question));
    step.choices.forEach((text, choice) => this.choices.append(element("label", {}, element("input", { type: "radio", name: `prediction-${k}`, value: String(choice) }), ` ${text}`)));
    const place = element("p", { class: "small" }, `Chapter ${k + 1} of ${STEPS.length}`);
    this.node = element("section", { class: "chapter" }, place, this.title, element("p", {}, step.setting), this.choices, this.told, this.source, this.main);
    this.node.dataset["chapter"] = String(k);
  }

  private get chosen(): number {
    const checked = this.choices.querySelector<HTMLInputElement>("input:checked");
    return checked === null ? -1 : Number(checked.value);
  }

  /** What the run has borne out; null hides it again. */
  tell(explanation: string | null, right: number): void {
    say(this.told, explanation ?? "");
    say(this.source, explanation === null || this.step.reference === undefined ? "" : declared.references[this.step.reference]);
    this.choices.querySelectorAll("label").forEach((label, k) => {
      const mark = explanation === null ? "" : k === right ? " ✓ this is what happened" : k === this.chosen ? " ✗ your guess" : "";
      label.lastChild!.textContent = ` ${this.step.choices[k] ?? ""}${mark}`;
      label.classList.toggle("right", explanation !== null && k === right);
      label.querySelector("input")!.disabled = explanation !== null;
    });
  }
}

export class StoryPanel {
  private index = -1;
  private phase: Phase = "asking";
  private readonly chapters = STEPS.map((step, k) => new Chapter(step, k));
  private settling = 0;

  constructor(private readonly explorer: Explorer) {
    const begin = element("button", { type: "button", class: "primary", id: "story-begin" }, "Begin");
    begin.addEventListener("click", () => this.show(0));
    const opening = element("section", { class: "chapter opening" }, element("h2", {}, "What do words do inside a Transformer?"),
      element("p", {}, "They move. Every layer pulls every word toward the words it attends to, and depth is time. This page lets you watch, touch and compute that motion."),
      element("p", {}, `A story in ${STEPS.length} short chapters: each sets the stage, asks what you expect, plays, and explains. Or just play: turn the sphere, grab a token, move β.`), begin);
    const contents = element("ol", { class: "contents" }, ...STEPS.map(({ title }, k) => {
      const link = element("button", { type: "button" }, title);
      link.addEventListener("click", () => this.show(k));
      return element("li", {}, link);
    }));
    opening.append(contents);
    byId("story").append(opening, ...this.chapters.map(({ node }) => node));
    this.chapters.forEach((chapter, k) => chapter.main.addEventListener("click", () => this.advance(k)));
    const watcher = new IntersectionObserver((entries) => this.scrolled(entries), { rootMargin: MIDDLE });
    for (const { node } of this.chapters) watcher.observe(node);
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
    const same = asked === undefined || (["beta", "n", "d", "noise", "model"] as const).every((key) => asked[key] === undefined || state[key] === asked[key]);
    if (same) return;
    this.index = -1;
    this.draw();
  }

  private scrolled(entries: IntersectionObserverEntry[]): void {
    clearTimeout(this.settling);
    const reached = entries.find(({ isIntersecting }) => isIntersecting)?.target as HTMLElement | undefined;
    const k = Number(reached?.dataset["chapter"] ?? -1);
    if (k >= 0 && k !== this.index) this.settling = setTimeout(() => this.go(k), SETTLES) as unknown as number;
  }

  /** Scroll to a chapter and open it. */
  show(k: number): void {
    const chapter = this.chapters[k];
    if (chapter === undefined) return;
    const panel = byId("story").parentElement as HTMLElement;
    if (panel.scrollHeight > panel.clientHeight + 1) {
      panel.scrollTop += chapter.node.getBoundingClientRect().top - panel.getBoundingClientRect().top - 8; // the page itself stays, and with it the stage
      scrollTo({ top: 0 });
    } else chapter.node.scrollIntoView({ block: "start" });
    if (k !== this.index) this.go(k);
    chapter.title.focus({ preventScroll: true });
  }

  /** Set the state of chapter k and ask its question. */
  private go(k: number): void {
    clearTimeout(this.settling);
    this.index = k;
    this.phase = "asking";
    const { state } = STEPS[k] as Step;
    const { theme } = this.explorer.state.view;
    this.explorer.load({ ...state, view: { ...state.view, theme, frame: 0 } });
    this.draw();
  }

  private advance(k: number): void {
    if (k !== this.index) return this.go(k);
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
    this.show((this.index + 1) % STEPS.length);
  }

  /** When the play head has reached the end of a finished run, explain. */
  private follow(): void {
    const { run, player } = this.explorer;
    if (this.phase !== "playing" || run === null || run.done === null || player.playing || player.frame < run.last) return;
    this.phase = "told";
    this.draw();
  }

  private draw(): void {
    const { run, pending } = this.explorer;
    this.chapters.forEach((chapter, k) => {
      const open = k === this.index;
      chapter.node.toggleAttribute("data-open", open);
      const told = open && this.phase === "told" && run !== null;
      chapter.tell(told ? chapter.step.explanation(run) : null, told ? chapter.step.verdict(run) : -1);
      const waiting = open && pending && this.phase === "asking";
      chapter.main.setAttribute("aria-disabled", String(waiting));
      const after = k + 1 < STEPS.length ? "Next chapter" : "From the beginning";
      say(chapter.main, waiting ? "Computing" : !open || this.phase === "asking" ? "Play and see" : this.phase === "playing" ? "Skip to the end" : after);
      chapter.main.id = open ? "story-main" : "";
    });
  }
}
