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

/** dx_i/dt = P_{x_i} sum_h sum_j A^h_ij V_h x_j; for USA without Z, times e^{-|beta|}. */
export function velocity(field: Field, x: Float64Array, out: Float64Array): void {
  const { n, d } = field;
  const row = new Float64Array(n);
  out.fill(0);
  for (const head of field.heads) {
    const [q, k, v] = [times(head.Q, x, n, d), times(head.K, x, n, d), times(head.V, x, n, d)];
    for (let i = 0; i < n; i++) {
      const { total, shift } = weights(field, q, k, i, row);
      const scale = field.model === "usa" ? Math.exp(shift - Math.abs(field.beta)) : 1 / total;
      for (let j = 0; j < n; j++) {
        const a = (row[j] as number) * scale;
        if (a === 0) continue;
        for (let c = 0; c < d; c++) out[i * d + c]! += a * (v[j * d + c] as number);
      }
    }
  }
  tangent(x, out, n, d);
}

/** The attention matrix of one head, row by row; rows sum to one. */
export function attentionMatrix(field: Field, x: Float64Array, h: number): Float32Array {
  const { n, d } = field;
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

/** The pull of every token on token i, in the tangent space: the sum is its velocity. */
export function pulls(field: Field, x: Float64Array, i: number): Float64Array {
  const { n, d } = field;
  const row = new Float64Array(n);
  const out = new Float64Array(n * d);
  const square = dot(x, i, x, i, d);
  for (const head of field.heads) {
    const [q, k, v] = [times(head.Q, x, n, d), times(head.K, x, n, d), times(head.V, x, n, d)];
    const { total, shift } = weights(field, q, k, i, row);
    const scale = field.model === "usa" ? Math.exp(shift - Math.abs(field.beta)) : 1 / total;
    for (let j = 0; j < n; j++) {
      const a = (row[j] as number) * scale;
      const along = dot(x, i, v, j, d) / square;
      for (let c = 0; c < d; c++) out[j * d + c]! += a * ((v[j * d + c] as number) - along * (x[i * d + c] as number));
    }
  }
  return out;
}
