/** The attention matrix of any frame, computed here: it lives while the run plays. */
import type { AttentionAnswer } from "../api";
import type { Frame } from "../frames";
import { ramp } from "../palette";
import { attentionMatrix, type Field } from "../physics/field";

/** More rows are binned by the server. */
export const MOST_LIVE = 256;

export type LiveAnswer = Omit<AttentionAnswer, "values"> & { matrix: Float32Array; rows: Float32Array };

function ordered(order: string, frame: Frame): number[] {
  const places = [...frame.labels.keys()];
  const angle = (i: number): number => Math.atan2(frame.points[i * frame.dshow + 1] as number, frame.points[i * frame.dshow] as number);
  if (order === "cluster") places.sort((i, j) => (frame.labels[i] as number) - (frame.labels[j] as number) || i - j);
  if (order === "angle") places.sort((i, j) => angle(i) - angle(j));
  return places;
}

/** `rows` as the tokens are numbered, `matrix` as it is drawn. */
export function liveAnswer(field: Field, frame: Frame, head: number, by: string): LiveAnswer {
  const { n } = frame;
  const rows = attentionMatrix(field, Float64Array.from(frame.points), head);
  const order = ordered(by, frame);
  const matrix = new Float32Array(n * n);
  order.forEach((i, p) => order.forEach((j, q) => (matrix[p * n + q] = rows[i * n + j] as number)));
  const entropy = Array.from({ length: n }, (_, i) => -rows.subarray(i * n, (i + 1) * n).reduce((sum, a) => sum + (a > 0 ? a * Math.log(a) : 0), 0));
  return { n, bins: n, order, entropy, rank: null, leaders: [], binned: false, matrix, rows };
}

const MOST_PULLS = 5;

/** Who moved a token in the layer after a frame: shares of its motion, which negative ones held back. */
export function movedInWords(shares: readonly number[], frame: number, token: number): string {
  const order = [...shares.keys()].filter((j) => shares[j] !== 0).sort((i, j) => Math.abs(shares[j] as number) - Math.abs(shares[i] as number));
  if (order.length === 0) return `Nothing is recorded after layer ${frame}: token ${token} stays.`;
  const parts = order.slice(0, MOST_PULLS).map((j) => `token ${j} ${Math.round(100 * (shares[j] as number))} %`);
  return `Why it moves: in layer ${frame + 1} attention brought token ${token} the following shares of its motion: ${parts.join(", ")}. What it took from itself, the perceptron and the norms are the rest; a negative share held it back.`;
}

/** Where a place on the square lies: bins of the matrix, and the token that stands there. */
export function cellAt(x: number, y: number, side: number, answer: { bins: number; n: number; order: readonly number[] }): { row: number; column: number; token: number } | null {
  if (x < 0 || y < 0 || x >= side || y >= side) return null;
  const row = Math.floor((y / side) * answer.bins);
  const column = Math.floor((x / side) * answer.bins);
  const token = answer.order[Math.floor(((row + 0.5) * answer.n) / answer.bins)] ?? 0;
  return { row, column, token };
}

/** Paint values (rows by columns) into an image; the square root shows the small ones too. The largest is returned. */
export function paintMatrix(values: Float32Array, bins: number, out: Uint8ClampedArray): number {
  let top = 1e-30;
  for (const v of values) top = Math.max(top, v);
  for (let i = 0; i < bins * bins; i++) {
    const [r, g, b] = ramp(Math.sqrt((values[i] as number) / top));
    out[4 * i] = 255 * r;
    out[4 * i + 1] = 255 * g;
    out[4 * i + 2] = 255 * b;
    out[4 * i + 3] = 255;
  }
  return top;
}
