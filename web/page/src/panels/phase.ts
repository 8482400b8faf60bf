/** The phase diagram: a heat map whose every cell is a run. */
import { phase, type PhaseAnswer, type PhaseAxis } from "../api";
import { freshPaper, FONT, type Paper } from "../canvas";
import { byId, element, say } from "../dom";
import type { Explorer } from "../explorer";
import { compactNumber } from "../numbers";
import { ramp, rgbToCss } from "../palette";
import type { State } from "../state";
import type { Theme } from "../theme";

const KINDS = [["t-beta", "time and β"], ["beta-n", "β and n"], ["beta-d", "β and d"], ["noise-beta", "noise and β"]] as const;
const STATISTICS = [["close", "P(cos > 0.999)"], ["clusters", "cluster count"], ["time", "time to one cluster"]] as const;
const MARGIN = { left: 58, right: 64, top: 10, bottom: 46 };
const POLL = 1000;
/** Diagrams are coarse: few tokens, and no more dimensions than the server takes. */
const TOKENS = 32;
const LARGEST = 128;

/** The place of a value on an axis of cells, in cells from the start; between cells by the axis' own scale. */
export function placeOnAxis(axis: PhaseAxis, value: number): number {
  const { values } = axis;
  const f = (x: number): number => (axis.scale === "log" ? Math.log(Math.max(1e-300, x)) : x);
  const last = values.length - 1;
  if (last < 1) return 0.5;
  let k = 0;
  while (k < last - 1 && value > (values[k + 1] as number)) k++;
  const [a, b] = [f(values[k] as number), f(values[k + 1] as number)];
  return k + 0.5 + (f(value) - a) / (b - a);
}

/** Low and high of what is known. A probability spans 0 to 1; counts and times are logarithmic when they span decades. */
export function valueRange(values: readonly (readonly (number | null)[])[], probability = false): { low: number; high: number; log: boolean } {
  if (probability) return { low: 0, high: 1, log: false };
  let low = Infinity;
  let high = -Infinity;
  for (const row of values) {
    for (const v of row) {
      if (v === null || !Number.isFinite(v)) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  }
  if (!(high >= low)) return { low: 0, high: 1, log: false };
  return { low, high: high > low ? high : low + 1, log: low > 0 && high / low > 30 };
}

export class PhasePanel {
  private readonly kind = element("select", { id: "phase-kind" }, ...KINDS.map(([value, text]) => element("option", { value }, text)));
  private readonly statistic = element("select", { id: "phase-statistic" }, ...STATISTICS.map(([value, text]) => element("option", { value }, text)));
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
    this.kind.addEventListener("change", () => this.open());
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

  private async fetch(signal: AbortSignal): Promise<void> {
    const d = Math.min(LARGEST, this.explorer.state.d);
    try {
      const fresh = await phase(this.kind.value, this.statistic.value, d, TOKENS, signal);
      const first = this.answer === null;
      this.answer = fresh;
      if (first) this.cursor = { x: Math.floor(fresh.x.values.length / 2), y: Math.floor(fresh.y.values.length / 2) };
      this.cursor.x = Math.min(this.cursor.x, fresh.x.values.length - 1);
      this.cursor.y = Math.min(this.cursor.y, fresh.y.values.length - 1);
      say(this.note, fresh.running ? `Computing: ${Math.round(100 * fresh.done)} % of the cells.` : (fresh.theory?.label ?? "Every cell is a seeded run: click to load it."));
      this.draw();
      this.tell();
      if (fresh.running) this.timer = setTimeout(() => void this.fetch(signal), POLL) as unknown as number;
    } catch (error) {
      if ((error as Error).name !== "AbortError") say(this.note, `Not available: ${(error as Error).message}.`);
    }
  }

  private box(paper: { width: number; height: number }): { left: number; top: number; wide: number; tall: number } {
    return { left: MARGIN.left, top: MARGIN.top, wide: paper.width - MARGIN.left - MARGIN.right, tall: paper.height - MARGIN.top - MARGIN.bottom };
  }

  private point(event: MouseEvent): boolean {
    if (this.answer === null) return false;
    const outer = this.canvas.getBoundingClientRect();
    const { left, top, wide, tall } = this.box(outer);
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
    const name = STATISTICS.find(([id]) => id === this.statistic.value)?.[1] ?? "value";
    const number = (axis: PhaseAxis, k: number): string => `${axis.name} = ${compactNumber(axis.values[k] as number, 3)}`;
    say(this.cellText, `${number(answer.x, cursor.x)}, ${number(answer.y, cursor.y)}: ${name} ${value === null || value === undefined ? "not known" : compactNumber(value, 3)}. Click or Enter loads this run.`);
  }

  draw(): void {
    if (byId("phase").hidden) return;
    const paper = freshPaper(this.canvas);
    if (paper === null || this.answer === null) return;
    const range = valueRange(this.answer.values, this.statistic.value === "close");
    this.drawCells(paper, this.answer, range);
    this.drawAxes(paper, this.answer);
    this.drawScale(paper, range);
    this.drawTheory(paper, this.answer);
    this.drawMarks(paper, this.answer);
  }

  private shade(v: number, { low, high, log }: ReturnType<typeof valueRange>): number {
    return log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low);
  }

  private drawCells(paper: Paper, answer: PhaseAnswer, range: ReturnType<typeof valueRange>): void {
    const { left, top, wide, tall } = this.box(paper);
    const [w, h] = [wide / answer.x.values.length, tall / answer.y.values.length];
    answer.values.forEach((row, y) =>
      row.forEach((value, x) => {
        paper.context.fillStyle = value === null ? this.theme().grid : rgbToCss(ramp(this.shade(value, range)));
        paper.context.fillRect(left + x * w, top + tall - (y + 1) * h, w + 0.5, h + 0.5);
      }),
    );
  }

  private drawAxes(paper: Paper, answer: PhaseAnswer): void {
    const { left, top, wide, tall } = this.box(paper);
    const { context } = paper;
    context.font = `12px ${FONT}`;
    context.fillStyle = this.theme().muted;
    const every = (count: number, most: number): number => Math.max(1, Math.ceil(count / most));
    context.textAlign = "center";
    context.textBaseline = "top";
    const nx = answer.x.values.length;
    answer.x.values.forEach((v, k) => {
      if (k % every(nx, 6) === 0) context.fillText(compactNumber(v, 2), left + ((k + 0.5) / nx) * wide, top + tall + 5);
    });
    context.textAlign = "right";
    context.textBaseline = "middle";
    const ny = answer.y.values.length;
    answer.y.values.forEach((v, k) => {
      if (k % every(ny, 8) === 0) context.fillText(compactNumber(v, 2), left - 6, top + tall - ((k + 0.5) / ny) * tall);
    });
    context.fillStyle = this.theme().ink;
    context.textAlign = "center";
    context.fillText(answer.x.label, left + wide / 2, top + tall + 32);
    context.save();
    context.translate(10, top + tall / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(answer.y.label, 0, 0);
    context.restore();
  }

  private drawScale(paper: Paper, range: ReturnType<typeof valueRange>): void {
    const { left, top, wide, tall } = this.box(paper);
    const { context } = paper;
    const x = left + wide + 12;
    for (let k = 0; k < tall; k++) {
      context.fillStyle = rgbToCss(ramp(1 - k / tall));
      context.fillRect(x, top + k, 10, 1.5);
    }
    context.fillStyle = this.theme().muted;
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText(compactNumber(range.high, 3), x + 14, top);
    context.textBaseline = "bottom";
    context.fillText(compactNumber(range.low, 3), x + 14, top + tall);
  }

  private drawTheory(paper: Paper, answer: PhaseAnswer): void {
    if (answer.theory === null) return;
    const { left, top, wide, tall } = this.box(paper);
    const { context } = paper;
    context.save();
    context.beginPath();
    context.rect(left, top, wide, tall);
    context.clip();
    for (const [color, width] of [["#000000", 5], ["#ffffff", 2.5]] as const) {
      context.strokeStyle = color;
      context.lineWidth = width;
      context.setLineDash(color === "#ffffff" ? [8, 5] : []);
      context.beginPath();
      answer.theory.x.forEach((x, k) => {
        const y = answer.theory?.y[k] as number;
        context.lineTo(left + (placeOnAxis(answer.x, x) / answer.x.values.length) * wide, top + tall - (placeOnAxis(answer.y, y) / answer.y.values.length) * tall);
      });
      context.stroke();
    }
    context.restore();
  }

  /** The cursor, and a dot where the current run lies when it is on the map. */
  private drawMarks(paper: Paper, answer: PhaseAnswer): void {
    const { left, top, wide, tall } = this.box(paper);
    const { context } = paper;
    const [w, h] = [wide / answer.x.values.length, tall / answer.y.values.length];
    const outline = (x: number, y: number, color: string): void => {
      context.strokeStyle = color;
      context.strokeRect(left + x * w, top + tall - (y + 1) * h, w, h);
    };
    context.setLineDash([]);
    context.lineWidth = 3;
    outline(this.cursor.x, this.cursor.y, "#000000");
    context.lineWidth = 1.5;
    outline(this.cursor.x, this.cursor.y, "#ffffff");
    const state = this.explorer.state as unknown as Record<string, unknown>;
    const [x, y] = [state[answer.cell.x], state[answer.cell.y]];
    if (typeof x !== "number" || typeof y !== "number") return;
    const [px, py] = [(placeOnAxis(answer.x, x) / answer.x.values.length) * wide, (placeOnAxis(answer.y, y) / answer.y.values.length) * tall];
    if (px < 0 || py < 0 || px > wide || py > tall) return;
    context.fillStyle = "#ffffff";
    context.strokeStyle = "#000000";
    context.beginPath();
    context.arc(left + px, top + tall - py, 5, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}
