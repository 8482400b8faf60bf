/** From the coordinates the server sends to the three that are drawn, and what they keep. */
import type { Frame } from "../frames";
import type { Projection } from "../state";
import { symmetricEigen } from "./eigen";
import { fullness } from "./surface";

/** Three rows of `dshow` numbers. */
export type Basis = readonly [Float64Array, Float64Array, Float64Array];

function unitBasis(dshow: number, places: readonly [number, number, number]): Basis {
  const row = (place: number): Float64Array => {
    const out = new Float64Array(dshow);
    if (place < dshow) out[place] = 1;
    return out;
  };
  return [row(places[0]), row(places[1]), row(places[2])];
}

/** Principal directions of this frame's tokens; signs agree with `before` so that the picture does not flip. */
export function principalBasis(frame: Frame, before: Basis | null): Basis {
  const { n, dshow, points } = frame;
  const mean = new Float64Array(dshow);
  for (let i = 0; i < n; i++) for (let a = 0; a < dshow; a++) mean[a]! += (points[i * dshow + a] as number) / n;
  const moment = Array.from({ length: dshow }, () => new Array<number>(dshow).fill(0));
  for (let i = 0; i < n; i++) {
    for (let a = 0; a < dshow; a++) {
      const xa = (points[i * dshow + a] as number) - (mean[a] as number);
      const row = moment[a] as number[];
      for (let b = a; b < dshow; b++) row[b]! += (xa * ((points[i * dshow + b] as number) - (mean[b] as number))) / n;
    }
  }
  for (let a = 0; a < dshow; a++) for (let b = 0; b < a; b++) moment[a]![b] = moment[b]![a] as number;
  const { vectors } = symmetricEigen(moment);
  const rows = [0, 1, 2].map((k) => Float64Array.from(vectors[k] ?? new Array<number>(dshow).fill(0)));
  rows.forEach((row, k) => {
    const old = before?.[k];
    const agree = old?.length === dshow ? row.reduce((sum, x, a) => sum + x * (old[a] as number), 0) : 1;
    if (agree < 0) row.forEach((x, a) => (row[a] = -x));
  });
  return rows as unknown as Basis;
}

export function basisFor(projection: Projection, frame: Frame, before: Basis | null, places: readonly [number, number, number]): Basis {
  if (frame.dshow <= 3 || projection === "pca-end") return unitBasis(frame.dshow, [0, 1, 2]);
  if (projection === "axes") return unitBasis(frame.dshow, places);
  return principalBasis(frame, before);
}

/** Write the three drawn coordinates of every token into `out` (3 n numbers). */
export function project(frame: Frame, basis: Basis, out: Float32Array): void {
  const { n, dshow, points } = frame;
  if (dshow === 3) {
    out.set(points.length === out.length ? points : points.subarray(0, out.length));
    return;
  }
  const [u, v, w] = basis;
  for (let i = 0; i < n; i++) {
    let x = 0;
    let y = 0;
    let z = 0;
    for (let a = 0; a < dshow; a++) {
      const p = points[i * dshow + a] as number;
      x += p * (u[a] as number);
      y += p * (v[a] as number);
      z += p * (w[a] as number);
    }
    out[3 * i] = x;
    out[3 * i + 1] = y;
    out[3 * i + 2] = z;
  }
}

/** Share of the mean squared length (1 on the unit sphere) that the drawn coordinates keep. */
export function keptShare(drawn: Float32Array, n: number): number {
  let sum = 0;
  for (let i = 0; i < 3 * n; i++) sum += (drawn[i] as number) ** 2;
  return n === 0 ? 0 : sum / n;
}

/** A density on the circle as a curve around it, which the uniform one makes the circle itself. */
export function lifted(frame: Frame, points: Float32Array): void {
  for (let i = 0; i < frame.n; i++) {
    const out = 0.5 + fullness(frame.mass?.[i] ?? 1);
    for (let c = 0; c < 2; c++) points[3 * i + c]! *= out;
  }
}
