/** Frames made by hand, byte by byte, as the server writes them. */
import type { Accepted } from "../src/run";
import { Run } from "../src/run";
import { parseFrame } from "../src/frames";
import { defaultState } from "../src/state";

export interface Made {
  index?: number;
  points: number[][];
  labels?: number[];
  t?: number;
  mass?: number[];
  histogram?: number[];
  flags?: number;
  clusters?: number;
  arc?: number;
}

export function frameBytes(made: Made): ArrayBuffer {
  const n = made.points.length;
  const dshow = made.points[0]?.length ?? 0;
  const size = 80 + 4 * n * dshow + 2 * n + (made.mass ? 4 * n : 0) + (made.histogram ? 256 : 0);
  const buffer = new ArrayBuffer(size);
  const view = new DataView(buffer);
  [..."PF01"].forEach((c, i) => view.setUint8(i, c.charCodeAt(0)));
  const flags = made.flags ?? (made.mass ? 2 : 0) + (made.histogram ? 4 : 0);
  [7, made.index ?? 0, n, dshow, flags].forEach((v, i) => view.setUint32(4 + 4 * i, v, true));
  const t = made.t ?? made.index ?? 0;
  [t, Math.log10(t), 0.25, made.clusters ?? 2, 0.5, -0.125, made.arc ?? 3].forEach((v, i) => view.setFloat64(24 + 8 * i, v, true));
  let at = 80;
  for (const x of made.points.flat()) view.setFloat32((at += 4) - 4, x, true);
  for (let i = 0; i < n; i++) view.setUint16((at += 2) - 2, made.labels?.[i] ?? i, true);
  for (const m of made.mass ?? []) view.setFloat32((at += 4) - 4, m, true);
  for (const h of made.histogram ?? []) view.setFloat32((at += 4) - 4, h, true);
  return buffer;
}

export function madeRun(frames: Made[]): Run {
  const n = frames[0]?.points.length ?? 0;
  const d = frames[0]?.points[0]?.length ?? 3;
  const accepted: Accepted = { run: "ab", state: {}, n, d, frames: frames.length, python: "", command: "", words: "" };
  const run = new Run(7, accepted, { ...defaultState(), n, d });
  frames.forEach((made, index) => run.add(parseFrame(frameBytes({ index, ...made }))));
  return run;
}
