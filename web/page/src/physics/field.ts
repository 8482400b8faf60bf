/** The velocities of attention, in plain loops: the same formulas as the library's fields. */

/** One head; matrices by rows, null for the identity. */
export interface Head {
  Q: Float64Array | null;
  K: Float64Array | null;
  V: Float64Array | null;
}

export interface Field {
  model: "sa" | "usa" | "causal" | "hardmax";
  beta: number;
  n: number;
  d: number;
  /** Masses, with sum one. */
  mass: Float64Array;
  heads: readonly Head[];
  /** Adds c relu(x) to the drive of every token. */
  perceptron?: number;
  norm?: Norm;
  /** When Mix-LN turns from Post-LN to Pre-LN. */
  change?: number;
}

/** Where the layer norm sits; after the third the tokens have lengths of their own, and the field reads their directions. */
export type Norm = "post" | "unit" | "depth" | "pre" | "peri" | "scaled" | "mix";
const WITH_LENGTHS: readonly Norm[] = ["pre", "peri", "scaled", "mix"];

/** Whether tokens leave the sphere. */
export const leaves = ({ norm = "post" }: Field): boolean => WITH_LENGTHS.includes(norm);

/** All tokens scaled to length one. */
export function onSphere(x: Float64Array, n: number, d: number): void {
  for (let i = 0; i < n; i++) {
    const scale = 1 / Math.sqrt(dot(x, i, x, i, d));
    for (let c = 0; c < d; c++) x[i * d + c]! *= scale;
  }
}

/** What the field reads of the tokens. */
function seen(field: Field, x: Float64Array): Float64Array {
  if (!leaves(field)) return x;
  const directions = x.slice();
  onSphere(directions, field.n, field.d);
  return directions;
}

/** y_i = M x_i for every token. */
function times(M: Float64Array | null, x: Float64Array, n: number, d: number): Float64Array {
  if (M === null) return x;
  const y = new Float64Array(n * d);
  for (let i = 0; i < n; i++) {
    for (let r = 0; r < d; r++) {
      let sum = 0;
      for (let c = 0; c < d; c++) sum += (M[r * d + c] as number) * (x[i * d + c] as number);
      y[i * d + r] = sum;
    }
  }
  return y;
}

function dot(a: Float64Array, i: number, b: Float64Array, j: number, d: number): number {
  let sum = 0;
  for (let c = 0; c < d; c++) sum += (a[i * d + c] as number) * (b[j * d + c] as number);
  return sum;
}

/** Whom token i sees: row[j] = w_j e^{beta <Q x_i, K x_j> - shift}; returns their sum and the shift. */
export function weights(field: Field, q: Float64Array, k: Float64Array, i: number, row: Float64Array): { total: number; shift: number } {
  const { n, d, beta, mass, model } = field;
  const seen = model === "causal" ? i + 1 : n;
  let top = -Infinity;
  for (let j = 0; j < seen; j++) top = Math.max(top, (row[j] = beta * dot(q, i, k, j, d)));
  let total = 0;
  for (let j = 0; j < n; j++) {
    if (j >= seen) row[j] = 0;
    else if (model === "hardmax") row[j] = (row[j] as number) >= top - 1e-12 * Math.abs(beta) ? (mass[j] as number) : 0;
    else row[j] = (mass[j] as number) * Math.exp((row[j] as number) - top);
    total += row[j] as number;
  }
  return { total, shift: model === "hardmax" ? 0 : top };
}

/** The part of v that is tangent to the sphere at x. */
export function tangent(x: Float64Array, v: Float64Array, n: number, d: number): void {
  for (let i = 0; i < n; i++) {
    const along = dot(x, i, v, i, d) / Math.max(1e-300, dot(x, i, x, i, d));
    for (let c = 0; c < d; c++) v[i * d + c]! -= along * (x[i * d + c] as number);
  }
}

/** Below this, sums of weights without a shift may vanish. */
const LEAST_BETA = -300;

/** n rows of three numbers: the loop over pairs is unrolled, and the circle has a third coordinate that is zero. */
function inSpace(x: Float64Array, n: number, d: number): Float64Array {
  if (d === 3) return x;
  const out = new Float64Array(3 * n);
  for (let i = 0; i < n; i++) [out[3 * i], out[3 * i + 1]] = [x[2 * i] as number, x[2 * i + 1] as number];
  return out;
}

/**
 * Without Q and K a weight belongs to a pair, and without a shift: each is computed once, for d <= 3. Adds sum_j A_ij y_j.
 */
function pairs({ model, beta, n, d, mass }: Field, points: Float64Array, values: Float64Array, out: Float64Array): void {
  const [x, y] = [inSpace(points, n, d), inSpace(values, n, d)];
  const [total, sums] = [new Float64Array(n), new Float64Array(3 * n)];
  const [causal, shift] = [model === "causal", Math.abs(beta)];
  for (let i = 0; i < n; i++) {
    const at = 3 * i;
    const [x0, x1, x2] = [x[at] as number, x[at + 1] as number, x[at + 2] as number];
    const mine = causal ? 0 : (mass[i] as number);
    const [y0, y1, y2] = [mine * (y[at] as number), mine * (y[at + 1] as number), mine * (y[at + 2] as number)];
    let [z, s0, s1, s2] = [0, 0, 0, 0];
    for (let j = 0, to = 0; j < i; j++, to += 3) {
      const weight = Math.exp(beta * (x0 * (x[to] as number) + x1 * (x[to + 1] as number) + x2 * (x[to + 2] as number)) - shift);
      const share = weight * (mass[j] as number);
      z += share;
      s0 += share * (y[to] as number);
      s1 += share * (y[to + 1] as number);
      s2 += share * (y[to + 2] as number);
      total[j]! += weight * mine;
      sums[to]! += weight * y0;
      sums[to + 1]! += weight * y1;
      sums[to + 2]! += weight * y2;
    }
    const self = Math.exp(beta * (x0 * x0 + x1 * x1 + x2 * x2) - shift) * (mass[i] as number);
    total[i]! += z + self;
    sums[at]! += s0 + self * (y[at] as number);
    sums[at + 1]! += s1 + self * (y[at + 1] as number);
    sums[at + 2]! += s2 + self * (y[at + 2] as number);
  }
  for (let i = 0; i < n; i++) {
    const part = model === "usa" ? 1 : 1 / (total[i] as number);
    for (let c = 0; c < d; c++) out[i * d + c]! += part * (sums[3 * i + c] as number);
  }
}

/** Adds sum_j A_ij V x_j of one head. */
function attend(field: Field, head: Head, x: Float64Array, out: Float64Array): void {
  const { n, d, beta, model } = field;
  const v = times(head.V, x, n, d);
  if (d <= 3 && head.Q === null && head.K === null && model !== "hardmax" && beta > LEAST_BETA) return pairs(field, x, v, out);
  const [q, k] = [times(head.Q, x, n, d), times(head.K, x, n, d)];
  const row = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const { total, shift } = weights(field, q, k, i, row);
    const scale = model === "usa" ? Math.exp(shift - Math.abs(beta)) : 1 / total;
    for (let j = 0; j < n; j++) {
      const a = (row[j] as number) * scale;
      if (a === 0) continue;
      for (let c = 0; c < d; c++) out[i * d + c]! += a * (v[j * d + c] as number);
    }
  }
}

/** By how much the norm multiplies the drive A_i of a token. */
function speed({ norm, d }: Field, out: Float64Array, i: number, t: number): number {
  if (norm === "depth" || norm === "scaled") return 1 / Math.sqrt(1 + t);
  if (norm !== "unit" && norm !== "peri") return 1;
  const length = Math.sqrt(dot(out, i, out, i, d));
  return length > 0 ? 1 / length : 1;
}

/** dx_i/dt = P_{x_i} s_i [ sum_h sum_j A^h_ij V_h x_j + c relu(x_i) ], with lengths without P; for USA without Z, times e^{-|beta|}. */
export function velocity(field: Field, points: Float64Array, out: Float64Array, t = 0): void {
  const { n, d, perceptron = 0, norm = "post" } = field;
  const x = seen(field, points);
  out.fill(0);
  for (const head of field.heads) attend(field, head, x, out);
  if (perceptron !== 0) for (let m = 0; m < n * d; m++) out[m]! += perceptron * Math.max(0, x[m] as number);
  if (norm !== "post") {
    for (let i = 0; i < n; i++) {
      const s = speed(field, out, i, t);
      for (let c = 0; c < d; c++) out[i * d + c]! *= s;
    }
  }
  if (!tangential(field, t)) return;
  tangent(x, out, n, d);
}

/** Whether the field moves no token along itself now. */
const tangential = (field: Field, t: number): boolean => (field.norm === "mix" ? t < (field.change ?? 0) : !leaves(field));

/** The attention matrix of one head, row by row; rows sum to one. */
export function attentionMatrix(field: Field, points: Float64Array, h: number): Float32Array {
  const { n, d } = field;
  const x = seen(field, points);
  const head = field.heads[h] as Head;
  const [q, k] = [times(head.Q, x, n, d), times(head.K, x, n, d)];
  const row = new Float64Array(n);
  const out = new Float32Array(n * n);
  for (let i = 0; i < n; i++) {
    const { total } = weights(field, q, k, i, row);
    for (let j = 0; j < n; j++) out[i * n + j] = (row[j] as number) / total;
  }
  return out;
}

/** Who pulls a token: another one through one head, or the perceptron (no head, no token). */
export interface Pull {
  head: number | null;
  token: number | null;
  vector: Float64Array;
}

/** All pulls on token i, in its tangent space: their sum is its velocity. */
export function pulls(field: Field, points: Float64Array, i: number, t = 0): Pull[] {
  const { n, d, perceptron = 0 } = field;
  const x = seen(field, points);
  const row = new Float64Array(n);
  const drive = new Float64Array(n * d);
  const found: Pull[] = [];
  const add = (head: number | null, token: number | null, value: (c: number) => number): void => {
    const vector = Float64Array.from({ length: d }, (_, c) => value(c));
    vector.forEach((part, c) => (drive[i * d + c]! += part));
    found.push({ head, token, vector });
  };
  field.heads.forEach((head, h) => {
    const [q, k, v] = [times(head.Q, x, n, d), times(head.K, x, n, d), times(head.V, x, n, d)];
    const { total, shift } = weights(field, q, k, i, row);
    const scale = field.model === "usa" ? Math.exp(shift - Math.abs(field.beta)) : 1 / total;
    for (let j = 0; j < n; j++) {
      const a = (row[j] as number) * scale;
      if (a > 0) add(h, j, (c) => a * (v[j * d + c] as number));
    }
  });
  if (perceptron !== 0) add(null, null, (c) => perceptron * Math.max(0, x[i * d + c] as number));
  const s = speed(field, drive, i, t);
  const square = dot(x, i, x, i, d);
  const round = tangential(field, t) ? 1 : 0;
  for (const { vector } of found) {
    const along = round * vector.reduce((sum, part, c) => sum + part * (x[i * d + c] as number), 0) / square;
    vector.forEach((part, c) => (vector[c] = s * (part - along * (x[i * d + c] as number))));
  }
  return found;
}
