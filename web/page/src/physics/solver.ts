/** Flows on the sphere: Dormand and Prince's pair, steps as the accuracy asks, frames between them by cubics. */
import { leaves, onSphere, tangent, velocity, type Field } from "./field";

const A = [
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
/** Where in the step each slope after the first is taken. */
const AT = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1];
const ERROR = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];
const TOLERANCE = 5e-7;
const FIRST = 1e-3;
/** Standard deviations of the noise are added step by step: small steps. */
const NOISY_STEP = 0.01;

export interface Plan {
  field: Field;
  start: Float64Array;
  /** Increasing, from 0. */
  times: Float64Array;
  noise: number;
  /** Standard normal numbers. */
  normal: () => number;
}

/** Back to where tokens live. */
function home(field: Field, x: Float64Array): void {
  if (!leaves(field)) onSphere(x, field.n, field.d);
}

/** Mix-LN as what it is: Post-LN on the sphere to its change, then Pre-LN from there. */
function* mixed(plan: Plan): Generator<{ t: number; x: Float64Array }> {
  const { field, times } = plan;
  const change = Math.max(0, field.change ?? 0);
  const early = times.filter((t) => t <= change);
  let start = plan.start;
  let k = 0;
  for (const frame of flow({ ...plan, field: { ...field, norm: "post" }, times: Float64Array.from([...early, change]) })) {
    start = frame.x;
    if (k++ < early.length) yield frame;
  }
  const late = times.filter((t) => t > change).map((t) => t - change);
  if (late.length === 0) return;
  for (const { t, x } of flow({ ...plan, start, field: { ...field, norm: "pre" }, times: late })) yield { t: t + change, x };
}

/** x + h sum_s a_s k_s. */
function combined(x: Float64Array, h: number, a: readonly number[], k: readonly Float64Array[], out: Float64Array): void {
  out.set(x);
  a.forEach((factor, s) => {
    if (factor === 0) return;
    const slope = k[s] as Float64Array;
    for (let m = 0; m < out.length; m++) out[m]! += h * factor * (slope[m] as number);
  });
}

/** One frame after the other, each a fresh array; steps go over several frames where the motion is slow. */
export function* flow(plan: Plan): Generator<{ t: number; x: Float64Array }> {
  const { field, times, noise } = plan;
  if (field.norm === "mix") return yield* mixed(plan);
  const { n, d } = field;
  const slopes = Array.from({ length: 7 }, () => new Float64Array(n * d));
  const [first, last] = [slopes[0] as Float64Array, slopes[6] as Float64Array];
  let x = plan.start.slice();
  home(field, x);
  let next = new Float64Array(n * d);
  let t = 0;
  let h = FIRST;
  let frame = 0;
  const end = times[times.length - 1] ?? 0;
  velocity(field, x, first);
  while (frame < times.length) {
    while (frame < times.length && (times[frame] as number) <= t) yield { t: times[frame++] as number, x: x.slice() };
    if (frame >= times.length) return;
    if (noise > 0) {
      h = Math.min(NOISY_STEP, (times[frame] as number) - t);
      noisyStep(plan, x, t, h, next, slopes);
      t = (times[frame] as number) - t - h < 1e-12 ? (times[frame] as number) : t + h;
      [x, next] = [next, x];
      continue;
    }
    h = Math.min(h, end - t);
    const error = attempt(field, x, t, h, next, slopes);
    if (error <= 1) {
      const at = end - t - h <= 1e-12 * end ? end : t + h;
      for (; frame < times.length && (times[frame] as number) < at; frame++) {
        yield { t: times[frame] as number, x: between(field, x, next, first, last, h, ((times[frame] as number) - t) / h) };
      }
      t = at;
      [x, next] = [next, x];
      first.set(last);
    }
    h *= Math.min(5, Math.max(0.2, 0.9 * error ** -0.2));
  }
}

/** A step of the pair; `next` is the fifth order, the answer is its error in units of the tolerance. */
function attempt(field: Field, x: Float64Array, t: number, h: number, next: Float64Array, slopes: Float64Array[]): number {
  A.forEach((row, s) => {
    combined(x, h, row, slopes, next);
    if (s === A.length - 1) home(field, next);
    velocity(field, next, slopes[s + 1] as Float64Array, t + (AT[s] as number) * h);
  });
  let worst = 1e-12;
  for (let m = 0; m < x.length; m++) {
    let error = 0;
    for (let s = 0; s < 7; s++) error += (ERROR[s] as number) * ((slopes[s] as Float64Array)[m] as number);
    worst = Math.max(worst, Math.abs(h * error));
  }
  return worst / TOLERANCE;
}

/** The cubic through two points with their slopes, brought back to where tokens live. */
function between(field: Field, a: Float64Array, b: Float64Array, va: Float64Array, vb: Float64Array, h: number, u: number): Float64Array {
  const out = new Float64Array(a.length);
  const [p, q, r, s] = [(1 + 2 * u) * (1 - u) ** 2, u * (1 - u) ** 2 * h, u * u * (3 - 2 * u), u * u * (u - 1) * h];
  for (let m = 0; m < out.length; m++) out[m] = p * (a[m] as number) + q * (va[m] as number) + r * (b[m] as number) + s * (vb[m] as number);
  home(field, out);
  return out;
}

/** Heun's step for dx = v dt + noise P_x o dW (Stratonovich). */
function noisyStep({ field, noise, normal }: Plan, x: Float64Array, t: number, h: number, next: Float64Array, slopes: Float64Array[]): void {
  const { n, d } = field;
  const [v, w, kick, again] = slopes as [Float64Array, Float64Array, Float64Array, Float64Array];
  const draw = Float64Array.from({ length: n * d }, () => noise * Math.sqrt(h) * normal());
  velocity(field, x, v, t);
  kick.set(draw);
  tangent(x, kick, n, d);
  for (let m = 0; m < x.length; m++) next[m] = (x[m] as number) + h * (v[m] as number) + (kick[m] as number);
  velocity(field, next, w, t + h);
  again.set(draw);
  tangent(next, again, n, d);
  for (let m = 0; m < x.length; m++) next[m] = (x[m] as number) + 0.5 * (h * ((v[m] as number) + (w[m] as number)) + (kick[m] as number) + (again[m] as number));
  onSphere(next, n, d);
}
