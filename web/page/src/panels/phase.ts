/** The phase diagram: a heat map whose every cell is a run. */
import { phase, type PhaseAnswer, type PhaseAxis } from "../api";
import { freshPaper } from "../canvas";
import { byId, element, say } from "../dom";
import type { Explorer } from "../explorer";
import declared from "../declared.json";
import { compactNumber } from "../numbers";
import type { State } from "../state";
import type { Theme } from "../theme";
import { boxOf, paintPhase, valueRange } from "./phasemap";

const { kinds: KINDS, statistics: STATISTICS } = declared.phase;
const SYMBOLS: Readonly<Record<string, string>> = { t1: "t", beta: "β", noise: "σ" };
const POLL = 1000;
const ABOUT = "Every cell is the mean of three seeds; a click loads the first.";
/** Diagrams are coarse: few tokens, and no more dimensions than the server takes. */
const TOKENS = 32;
const LARGEST = 128;

export class PhasePanel {
  private readonly kind = element("select", { id: "phase-kind" }, ...KINDS.map(({ value, label }) => element("option", { value }, label)));
  private readonly statistic = element("select", { id: "phase-statistic" }, ...STATISTICS.map(({ value, label }) => element("option", { value }, label)));
  private readonly canvas = element("canvas", { class: "phasemap", tabindex: "0", role: "application", "aria-label": "Phase diagram: arrows move, Enter loads the cell", "aria-describedby": "phase-cell" });
  private readonly cellText = element("p", { class: "facts", id: "phase-cell", "aria-live": "polite" });
  private readonly note = element("p", { class: "small" });
  private answer: PhaseAnswer | null = null;
  private cursor: { x: number; y: number } = { x: 0, y: 0 };
  private fetching = new AbortController();
  private timer = 0;

  constructor(private readonly explorer: Explorer, private readonly theme: () => Theme) {
    const bar = element("div", { class: "panelbar" }, element("label", {}, "Over ", this.kind), element("label", {}, "Show ", this.statistic));
    byId("phase").append(bar, this.canvas, this.cellText, this.note);
    this.kind.addEventListener("change", () => {
      // Shaken tokens are never within 0.999 of each other: there the order parameter is what changes.
      if (this.kind.value === "noise-beta") this.statistic.value = "order_parameter";
      this.open();
    });
    this.statistic.addEventListener("change", () => this.open());
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("click", (event) => this.point(event) && this.load());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    explorer.on("state", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  /** Fetch the diagram chosen, and again while the server still fills it. */
  open(): void {
    clearTimeout(this.timer);
    const noTime = this.kind.value === "t-beta";
    for (const option of this.statistic.options) option.disabled = noTime && option.value === "time";
    if (noTime && this.statistic.value === "time") this.statistic.value = "close";
    this.fetching.abort();
    this.fetching = new AbortController();
    void this.fetch(this.fetching.signal);
  }

  close(): void {
    clearTimeout(this.timer);
  }

  /** What the colours show, in words. */
  private get shown(): { label: string; share: boolean } {
    return STATISTICS.find(({ value }) => value === this.statistic.value) ?? { label: "value", share: false };
  }

  private async fetch(signal: AbortSignal): Promise<void> {
    const d = Math.min(LARGEST, this.explorer.state.d);
    try {
      const fresh = await phase(this.kind.value, this.statistic.value, d, TOKENS, signal);
      const first = this.answer?.x.name !== fresh.x.name || this.answer.y.name !== fresh.y.name;
      this.answer = fresh;
      if (first) this.cursor = { x: Math.floor(fresh.x.values.length / 2), y: Math.floor(fresh.y.values.length / 2) };
      this.cursor.x = Math.min(this.cursor.x, fresh.x.values.length - 1);
      this.cursor.y = Math.min(this.cursor.y, fresh.y.values.length - 1);
      say(this.note, fresh.running ? `Computing: ${Math.round(100 * fresh.done)} % of the cells.` : (fresh.theory === null ? ABOUT : `Dashed: ${fresh.theory.label}. ${ABOUT}`));
      this.draw();
      this.tell();
      if (fresh.running) this.timer = setTimeout(() => void this.fetch(signal), POLL) as unknown as number;
    } catch (error) {
      if ((error as Error).name !== "AbortError") say(this.note, `Not available: ${(error as Error).message}.`);
    }
  }

  private point(event: MouseEvent): boolean {
    if (this.answer === null) return false;
    const outer = this.canvas.getBoundingClientRect();
    const { left, top, wide, tall } = boxOf(outer);
    const x = Math.floor(((event.clientX - outer.left - left) / wide) * this.answer.x.values.length);
    const y = Math.floor((1 - (event.clientY - outer.top - top) / tall) * this.answer.y.values.length);
    if (x < 0 || y < 0 || x >= this.answer.x.values.length || y >= this.answer.y.values.length) return false;
    this.cursor = { x, y };
    this.tell();
    this.draw();
    return true;
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const step = steps[event.key];
    if (event.key === "Enter") this.load();
    else if (step !== undefined && this.answer !== null) {
      this.cursor.x = Math.min(this.answer.x.values.length - 1, Math.max(0, this.cursor.x + step[0]));
      this.cursor.y = Math.min(this.answer.y.values.length - 1, Math.max(0, this.cursor.y + step[1]));
      this.tell();
      this.draw();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The state of the cell under the cursor. */
  cell(): Partial<State> | null {
    const { answer, cursor } = this;
    if (answer === null) return null;
    return { ...answer.state, [answer.cell.x]: answer.x.values[cursor.x], [answer.cell.y]: answer.y.values[cursor.y] };
  }

  private load(): void {
    const state = this.cell();
    if (state !== null) this.explorer.load({ ...state, view: { ...this.explorer.state.view, frame: null, selected: null, panel: "phase" } });
  }

  private tell(): void {
    const { answer, cursor } = this;
    if (answer === null) return;
    const value = answer.values[cursor.y]?.[cursor.x];
    const name = this.shown.label;
    const number = (axis: PhaseAxis, k: number): string => `${SYMBOLS[axis.name] ?? axis.name} = ${compactNumber(axis.values[k] as number, 3)}`;
    say(this.cellText, `${number(answer.x, cursor.x)}, ${number(answer.y, cursor.y)}: ${name} ${value === null || value === undefined ? "not known" : compactNumber(value, 3)}. Click or Enter loads this run.`);
  }

  draw(): void {
    if (byId("phase").hidden) return;
    const paper = freshPaper(this.canvas);
    if (paper === null || this.answer === null) return;
    const { state } = this.explorer;
    const here = [this.answer.cell.x, this.answer.cell.y].map((key) => (state as unknown as Record<string, unknown>)[key]);
    const range = valueRange(this.answer.values, this.shown.share);
    paintPhase(paper, this.answer, { range, name: this.shown.label, cursor: this.cursor, here, theme: this.theme() });
  }
}
