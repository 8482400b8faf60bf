/** The colour and the shape of every token, by cluster, start, index, mass or speed. */
import type { Frame } from "../frames";
import { clusterColor, clusterShape, ramp, wheel, type Rgb } from "../palette";
import type { ColorMode } from "../state";
import { fullness } from "./surface";

export interface Marks {
  /** 3 n numbers in [0, 1]. */
  tints: Float32Array;
  /** n shape numbers. */
  shapes: Float32Array;
}

export interface Shares {
  /** Mass of the cluster with this label. */
  byLabel: Float32Array;
  /** Number of tokens with this label. */
  counts: Uint32Array;
}

export function newShares(n: number): Shares {
  return { byLabel: new Float32Array(Math.max(n, 1) + 1), counts: new Uint32Array(Math.max(n, 1) + 1) };
}

/** Mass and size of every cluster of a frame; labels beyond the table are left out. */
export function clusterShares(frame: Frame, shares: Shares): void {
  shares.byLabel.fill(0);
  shares.counts.fill(0);
  const merged = frame.mass !== null;
  const equal = 1 / frame.n;
  for (let i = 0; i < frame.n; i++) {
    const label = frame.labels[i] as number;
    if (label >= shares.counts.length) continue;
    shares.counts[label]! += 1;
    shares.byLabel[label]! += merged ? (frame.mass as Float32Array)[i] as number : equal;
  }
  if (!merged) return;
  let total = 0;
  for (const share of shares.byLabel) total += share;
  if (total > 0) for (let l = 0; l < shares.byLabel.length; l++) shares.byLabel[l]! /= total;
}

function paint(marks: Marks, i: number, [r, g, b]: Rgb): void {
  marks.tints[3 * i] = r;
  marks.tints[3 * i + 1] = g;
  marks.tints[3 * i + 2] = b;
}

/** Where a token stands at the start, once around the wheel: its angle in the first two coordinates. */
export function startTurn(first: Frame, i: number): number {
  const x = first.points[i * first.dshow] as number;
  if (first.dshow === 1) return 0.35 + 0.3 * Math.tanh(2 * x); // the line has two ends, the wheel none
  const y = first.points[i * first.dshow + 1] as number;
  return (Math.atan2(y, x) / (2 * Math.PI) + 1) % 1;
}

/** log10 of the distance travelled per unit time between two frames; -Infinity at rest. */
export function logSpeed(a: Frame, b: Frame, i: number): number {
  let sum = 0;
  for (let k = 0; k < a.dshow; k++) sum += ((b.points[i * a.dshow + k] as number) - (a.points[i * a.dshow + k] as number)) ** 2;
  const dt = Math.abs(b.t - a.t);
  return dt > 0 ? 0.5 * Math.log10(sum) - Math.log10(dt) : -Infinity;
}

export const SPEED_RANGE: readonly [number, number] = [-4, 0];

export function colorTokens(mode: ColorMode | "density", frame: Frame, next: Frame, first: Frame, shares: Shares, slots: Uint16Array, dark: boolean, marks: Marks, ends: Uint16Array = frame.labels): void {
  const { n } = frame;
  for (let i = 0; i < n; i++) {
    const label = frame.labels[i] as number;
    const end = ends[i] as number; // the cluster it ends in, where that is known
    const slot = slots[end] ?? end;
    marks.shapes[i] = clusterShape(slot);
    switch (mode) {
      case "cluster":
        paint(marks, i, clusterColor(slot));
        break;
      case "start":
        paint(marks, i, wheel(startTurn(first, i), dark));
        break;
      case "index":
        paint(marks, i, ramp(n > 1 ? i / (n - 1) : 0.5));
        break;
      case "mass":
        paint(marks, i, ramp(1 + Math.log10(Math.max(1e-6, shares.byLabel[label] ?? 0)) / 3));
        break;
      case "density":
        paint(marks, i, ramp(fullness(frame.mass?.[i] ?? 1)));
        break;
      case "speed":
        paint(marks, i, ramp((logSpeed(frame, next, i) - SPEED_RANGE[0]) / (SPEED_RANGE[1] - SPEED_RANGE[0])));
        break;
    }
  }
}
