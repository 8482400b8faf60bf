/** The histogram of all pairwise cosines: what a projection of many dimensions cannot show. */
import { freshPaper, FONT } from "../canvas";
import { HISTOGRAM_BINS, type Frame } from "../frames";
import { percent } from "../numbers";
import type { Theme } from "../theme";

const MOST_TOKENS = 512;

export interface Cosines {
  shares: Float32Array;
  /** How they were found, in words. */
  note: string;
}

/** Shares of pairwise cosines in 64 bins over [-1, 1]; exact when every coordinate is here or the server counted. */
export function cosineShares(frame: Frame, d: number, out: Float32Array): Cosines {
  if (frame.histogram !== null) return { shares: frame.histogram, note: "all pairs" };
  out.fill(0);
  const { n, dshow, points } = frame;
  const step = Math.max(1, Math.ceil(n / MOST_TOKENS));
  let pairs = 0;
  for (let i = 0; i < n; i += step) {
    for (let j = i + step; j < n; j += step) {
      let cosine = 0;
      for (let a = 0; a < dshow; a++) cosine += (points[i * dshow + a] as number) * (points[j * dshow + a] as number);
      const bin = Math.min(HISTOGRAM_BINS - 1, Math.max(0, Math.floor(((cosine + 1) / 2) * HISTOGRAM_BINS)));
      out[bin]! += 1;
      pairs += 1;
    }
  }
  if (pairs > 0) for (let b = 0; b < out.length; b++) out[b]! /= pairs;
  const who = step > 1 ? `every ${step}th token` : "all pairs";
  return { shares: out, note: dshow < d ? `${who}, from ${dshow} of ${d} coordinates` : who };
}

export class CosineHistogram {
  private readonly buffer = new Float32Array(HISTOGRAM_BINS);

  constructor(private readonly canvas: HTMLCanvasElement) {}

  paint(frame: Frame, d: number, theme: Theme): void {
    const paper = freshPaper(this.canvas);
    if (paper === null) return;
    const { context, width, height } = paper;
    const { shares, note } = cosineShares(frame, d, this.buffer);
    const [left, right, top, bottom] = [14, 14, 30, 40];
    const [wide, tall] = [width - left - right, height - top - bottom];
    const peak = Math.max(1e-9, ...shares);
    context.fillStyle = theme.series.cosine;
    shares.forEach((share, b) => {
      const h = (share / peak) * tall;
      context.fillRect(left + (b / HISTOGRAM_BINS) * wide, top + tall - h, wide / HISTOGRAM_BINS - 1, h);
    });
    context.strokeStyle = theme.muted;
    context.beginPath();
    context.moveTo(left, top + tall + 0.5);
    context.lineTo(left + wide, top + tall + 0.5);
    context.stroke();
    context.font = `12px ${FONT}`;
    context.fillStyle = theme.muted;
    context.textBaseline = "top";
    for (const [at, label, align] of [[0, "−1", "left"], [0.5, "0", "center"], [1, "1", "right"]] as const) {
      context.textAlign = align;
      context.fillText(label, left + at * wide, top + tall + 6);
    }
    context.textAlign = "center";
    context.fillText(`pairwise cosine (${note})`, left + wide / 2, top + tall + 22);
    context.textAlign = "left";
    context.fillStyle = theme.ink;
    context.fillText(`highest bar: ${percent(peak)} of pairs`, left, 8);
  }
}
