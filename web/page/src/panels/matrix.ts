/** The attention matrix of any frame, computed here: it lives while the run plays. */
import type { AttentionAnswer } from "../api";
import type { Frame } from "../frames";
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
