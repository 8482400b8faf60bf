/** Angle against time on the circle, place against time on the line: every token a line, coloured like its mark. */
import { axisTick, axisValues, niceTicks } from "../axis";
import type { Frame } from "../frames";
import { compactNumber } from "../numbers";
import { freshPaper, FONT, type Paper } from "../canvas";
import { clusterColor, ramp, rgbToCss, wheel } from "../palette";
import type { Run } from "../run";
import type { Axis, ColorMode } from "../state";
import type { Theme } from "../theme";
import { startTurn } from "./coloring";
import { fullness } from "./surface";

const MOST_LINES = 1200;
const LEFT = 40;
const BOTTOM = 26;
const TOP = 8;
const RIGHT = 10;

/** One line for every so many tokens: more lines than this are a smear that costs time. The page says so. */
export function lineStep(n: number): number {
  return Math.max(1, Math.ceil(n / MOST_LINES));
}

const ANGLES: readonly [number, string][] = [[0, "−π"], [0.25, "−π/2"], [0.5, "0"], [0.75, "π/2"], [1, "π"]];

/** Where a token of the circle is in (-pi, pi], from 0 to 1. */
const turnOf = (frame: Frame, i: number): number => Math.atan2(frame.points[2 * i + 1] as number, frame.points[2 * i] as number) / (2 * Math.PI) + 0.5;

export interface RainbowLook {
  axis: Axis;
  color: ColorMode;
  theme: Theme;
  selected: number | null;
}

export class Rainbow {
  private xs: number[] = [];
  private picture: HTMLCanvasElement | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  /** Draw the whole run; the head is drawn over a copy of this picture. */
  paint(run: Run, look: RainbowLook): void {
    const paper = freshPaper(this.canvas);
    if (paper === null || run.count === 0) return;
    this.xs = axisValues(run, look.axis);
    const reach = run.accepted.d === 1 ? run.extent() : 0;
    this.frameOf(paper, look, reach * (run.done?.scale ?? 1));
    if (run.accepted.density) this.heat(paper, run);
    const step = run.accepted.density ? Infinity : lineStep(run.accepted.n);
    const alpha = Math.min(0.95, Math.max(0.25, 40 / Math.sqrt(run.accepted.n * 40)));
    paper.context.lineWidth = run.accepted.n > 300 ? 0.8 : 1.4;
    for (let i = 0; i < run.accepted.n; i += step) this.line(paper, run, i, look, alpha);
    if (look.selected !== null && !run.accepted.density) {
      paper.context.lineWidth = 2.6;
      this.line(paper, run, look.selected, look, 1, look.theme.ink);
    }
    this.picture ??= document.createElement("canvas");
    this.picture.width = this.canvas.width;
    this.picture.height = this.canvas.height;
    // Where the canvas itself is: a picture on the other side would be fetched for every frame.
    this.picture.getContext("2d", { willReadFrequently: true })?.drawImage(this.canvas, 0, 0);
  }

  /** The play head at a real-valued frame; veiled, what comes after it is not shown. */
  head(position: number, theme: Theme, veiled: boolean): void {
    const context = this.canvas.getContext("2d");
    if (context === null || this.picture === null || this.picture.width === 0) return;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    context.clearRect(0, 0, width, height);
    const k = Math.floor(position);
    const [a, b] = [this.xs[k] ?? 0, this.xs[k + 1] ?? this.xs[k] ?? 0];
    const x = this.across(a + (position - k) * (b - a), width);
    context.save();
    if (veiled) {
      context.beginPath();
      context.rect(0, 0, x, height);
      context.clip();
    }
    context.drawImage(this.picture, 0, 0, width, height);
    context.restore();
    context.strokeStyle = theme.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, TOP);
    context.lineTo(x, height - BOTTOM);
    context.stroke();
  }

  private across(x: number, width: number): number {
    const first = this.xs[0] ?? 0;
    const last = this.xs.at(-1) ?? 1;
    return LEFT + ((x - first) / Math.max(1e-300, last - first)) * (width - LEFT - RIGHT);
  }

  /** A density as a column of colours per frame. */
  private heat({ context, width, height }: Paper, run: Run): void {
    const tall = (height - BOTTOM - TOP) / run.accepted.n;
    run.frames.forEach((frame, k) => {
      const x = this.across(this.xs[k] as number, width);
      const wide = this.across(this.xs[k + 1] ?? (this.xs[k] as number), width) - x;
      for (let i = 0; i < frame.n; i++) {
        context.fillStyle = rgbToCss(ramp(fullness(frame.mass?.[i] ?? 1)), 1);
        context.fillRect(x, height - BOTTOM - (turnOf(frame, i) * frame.n + 0.5) * tall, wide + 0.5, tall + 0.5);
      }
    });
  }

  private frameOf({ context, width, height }: Paper, { axis, theme }: RainbowLook, reach: number): void {
    context.font = `12px ${FONT}`;
    context.fillStyle = theme.muted;
    context.strokeStyle = theme.grid;
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const ends = [0, 0.25, 0.5, 0.75, 1].map((turns): [number, string] => [turns, compactNumber((2 * turns - 1) * reach, 2)]);
    for (const [turns, label] of reach > 0 ? ends : ANGLES) {
      const y = height - BOTTOM - turns * (height - BOTTOM - TOP);
      context.fillText(label, LEFT - 6, y);
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(width - RIGHT, y);
      context.stroke();
    }
    context.textBaseline = "top";
    const [first, last] = [this.xs[0] ?? 0, this.xs.at(-1) ?? 1];
    for (const x of niceTicks(first, last, axis === "log")) {
      const text = axisTick(axis, x);
      context.textAlign = "center";
      context.fillText(text, Math.min(this.across(x, width), width - 2 - context.measureText(text).width / 2), height - BOTTOM + 7);
    }
  }

  private line({ context, width, height }: Paper, run: Run, i: number, look: RainbowLook, alpha: number, ink?: string): void {
    const first = run.frames[0];
    if (first === undefined) return;
    const tall = height - BOTTOM - TOP;
    const reach = run.accepted.d === 1 ? run.extent() : 0;
    let before = NaN;
    let label = -1;
    context.strokeStyle = ink ?? this.staticColor(run, i, look, alpha);
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, width - LEFT - RIGHT, tall);
    context.clip();
    context.beginPath();
    for (let k = 0; k < run.count; k++) {
      const frame = run.frames[k]!;
      const turn = reach > 0 ? ((frame.points[i] as number) / reach + 1) / 2 : turnOf(frame, i);
      const x = this.across(this.xs[k] as number, width);
      const y = height - BOTTOM - turn * tall;
      if (look.color === "cluster" && ink === undefined && frame.labels[i] !== label) {
        context.lineTo(x, y);
        context.stroke();
        label = frame.labels[i] as number;
        context.strokeStyle = rgbToCss(clusterColor(run.slots[label] ?? label), alpha);
        context.beginPath();
        context.moveTo(x, y);
      } else if (Number.isNaN(before)) context.moveTo(x, y);
      else {
        const around = reach > 0 ? 0 : Math.round(turn - before); // it leaves below and comes in above, or the other way round
        if (around !== 0) {
          context.lineTo(x, y + around * tall);
          context.moveTo(this.across(this.xs[k - 1] as number, width), height - BOTTOM - (before + around) * tall);
        }
        context.lineTo(x, y);
      }
      before = turn;
    }
    context.stroke();
    context.restore();
  }

  private staticColor(run: Run, i: number, look: RainbowLook, alpha: number): string {
    const first = run.frames[0]!;
    if (look.color === "index") return rgbToCss(ramp(i / Math.max(1, run.accepted.n - 1)), alpha);
    return rgbToCss(wheel(startTurn(first, i), look.theme.dark), alpha);
  }
}
