/** A preview: the physics of a state computed in this page, at once, and labelled as such. */
import type { Frame } from "../frames";
import type { Field, Head, Norm } from "../physics/field";
import type { Order } from "../physics/preview.worker";
import PreviewWorker from "../physics/preview.worker?worker&inline";
import type { Accepted, Run } from "../run";
import type { State } from "../state";

const MOST_TOKENS = 4096;
const MODELS: readonly string[] = ["sa", "usa", "causal", "hardmax"];
/** Each is the same for every token of a frame that the page has whole. */
const SAME_START: readonly (keyof State)[] = ["n", "d", "init", "seed", "file", "weights"];

export interface Matrices {
  Q: number[][] | null;
  K: number[][] | null;
  V: number[][] | null;
}

const flat = (rows: number[][] | null): Float64Array | null => (rows === null ? null : Float64Array.from(rows.flat()));
const diagonal = (values: readonly number[]): Float64Array => Float64Array.from({ length: values.length ** 2 }, (_, k) => (k % (values.length + 1) === 0 ? (values[k / (values.length + 1)] as number) : 0));

function heads({ V, d, heads: count }: State, given: Matrices[] | null): Head[] | null {
  if (given !== null) return given.map(({ Q, K, V: value }) => ({ Q: flat(Q), K: flat(K), V: flat(value) }));
  if (count > 1 || (typeof V === "string" && V.startsWith("file:"))) return null;
  const value = V === null || V === "identity" ? null : V === "minus" ? diagonal(new Array<number>(d).fill(-1)) : Array.isArray(V[0]) ? flat(V as number[][]) : diagonal(V as number[]);
  return [{ Q: null, K: null, V: value }];
}

/** What the server knows of a run without controls that this page can compute: norms with a radius. */
export interface Known {
  model: string;
  norm: Norm;
  change?: number;
}

/** A run without controls is drawn in R^d; what is scaled to fit there does not begin on the sphere. */
const begins = ({ points, n, dshow }: Frame): boolean => Array.from({ length: n }, (_, i) => Math.hypot(...points.subarray(i * dshow, (i + 1) * dshow))).every((r) => Math.abs(r - 1) < 1e-6);

/** The field of a state; null where this page does not know its weights. */
export function fieldOf(asked: State, frame: Frame, matrices: Matrices[] | null = null, known: Known | null = null): Field | null {
  if (known !== null && !begins(frame)) return null;
  const state = known === null ? asked : { ...asked, ...known };
  if (!MODELS.includes(state.model) || frame.dshow !== state.d) return null;
  const found = heads(state, matrices);
  const plain = found?.every(({ Q, K, V }) => Q === null && K === null && V === null) ?? false;
  if (found === null || (state.d > 3 && !(plain && state.perceptron === 0))) return null; // above three dimensions a frame is turned
  const total = frame.mass?.reduce((a, b) => a + b, 0) ?? 1;
  const mass = Float64Array.from({ length: state.n }, (_, i) => (frame.mass === null ? 1 / state.n : (frame.mass[i] as number) / total));
  return { model: state.model as Field["model"], beta: state.beta, n: state.n, d: state.d, mass, heads: found, perceptron: state.perceptron, norm: state.norm, ...(known?.change === undefined ? {} : { change: known.change }) };
}

/** Of the run that is shown: what its matrix and its pulls are computed from. */
export function shownField(run: Run): Field | null {
  const frame = run.frames[0];
  return frame === undefined ? null : fieldOf(run.state, frame, run.accepted.matrices ?? null, run.accepted.known ?? null);
}

/** What the preview of a state is computed from, where the run that is shown begins with the same tokens. */
export function previewOf(state: State, run: Run): { field: Field; start: Float64Array } | null {
  const frame = run.frames[0];
  const same = SAME_START.every((key) => state[key] === run.state[key]) && state.heads === run.state.heads;
  if (!same || frame === undefined || state.n > MOST_TOKENS || state.merge || state.solver === "layers" || state.t1 > 1e4) return null;
  const sameV = JSON.stringify(state.V) === JSON.stringify(run.state.V);
  const sameRun = state.experiment === run.state.experiment;
  const field = fieldOf(state, frame, sameV ? (run.accepted.matrices ?? null) : null, sameRun ? (run.accepted.known ?? null) : null);
  if (field === null) return null;
  const start = Float64Array.from(frame.points);
  const moved = JSON.stringify(state.moved) === JSON.stringify(run.state.moved) ? [] : state.moved;
  if (moved.length < run.state.moved.length) return null;
  for (const [i, point] of moved) point.forEach((value, c) => (start[i * state.d + c] = value));
  return { field, start };
}

/** The times of the frames, as the server chooses them. */
export function timesOf({ t1, frames, clock, solver, h }: State): Float64Array {
  if (clock !== "log") return Float64Array.from({ length: frames }, (_, k) => (t1 * k) / (frames - 1));
  const first = Math.min(solver === "adaptive" ? 0.01 : h, t1 / 100);
  const count = Math.max(frames - 1, 2);
  return Float64Array.from({ length: count + 1 }, (_, k) => (k === 0 ? 0 : first * (t1 / first) ** ((k - 1) / (count - 1))));
}

/** What a run says of itself when nobody but this page has computed it. */
export function previewAccepted(state: State, shown: Accepted): Accepted {
  return { ...shown, run: "preview", state: { ...state }, n: state.n, d: state.d, frames: timesOf(state).length, words: "" };
}

export class Preview {
  private worker: Worker | null = null;

  constructor(private readonly received: (frame: Frame) => void) {}

  start(id: number, state: State, plan: { field: Field; start: Float64Array }, radius: number): void {
    this.stop();
    const order: Order = { id, ...plan, times: timesOf(state), noise: state.noise, seed: state.seed, radius, weighted: state.weights !== "equal" };
    this.worker = new PreviewWorker();
    this.worker.onmessage = ({ data }: MessageEvent<Frame>) => this.received(data);
    this.worker.postMessage(order);
  }

  stop(): void {
    this.worker?.terminate();
    this.worker = null;
  }
}
