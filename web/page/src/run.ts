/** One run kept in the page: its frames, its series, its plateaus. Scrubbing reads only from here. */
import type { Frame } from "./frames";
import { plateausOf, type Plateau } from "./plateaus";
import type { Known, Matrices } from "./sources/preview";
import { compactNumber } from "./numbers";
import { colorSlots, identitySlots } from "./slots";
import type { Asked, State } from "./state";

export interface Outcome {
  kind: string;
  sentence: string;
}

export interface Done {
  outcome: Outcome;
  steps: number;
  rejected: number;
  norm_drift: number | null;
  dtype: string;
  seconds: number;
  variance?: number[];
  /** By what tokens of R^d are divided in the frames. */
  scale?: number;
}

export interface Accepted {
  run: string;
  state: Asked;
  /** Q, K, V of every head, where they are neither the identity nor too large to send. */
  matrices?: Matrices[] | null;
  /** A word for each token, where its file had them. */
  labels?: string[];
  /** The experiment as plain data; null for what is recorded. */
  experiment?: Asked | null;
  n: number;
  d: number;
  frames: number;
  space?: string;
  /** How many attention matrices a frame has. */
  heads?: number;
  /** The frames are the layers of a model, and its dimension: the frames may need fewer. */
  layers?: boolean;
  width?: number;
  /** The masses of the frames are a density at points that do not move. */
  density?: boolean;
  /** What moves the tokens, as Python writes it, and the keys that change the run: where the controls do not make it. */
  field?: string | null;
  controls?: string[] | null;
  known?: Known | null;
  radius?: number;
  python: string;
  toml?: string;
  command: string;
  words: string;
}

export interface Numbers {
  t: number;
  energy: number;
  clusters: number;
  largest: number;
  cosine: number;
}

export const SERIES = ["energy", "clusters", "largest", "cosine"] as const;
export type SeriesName = (typeof SERIES)[number];

export class Run {
  readonly frames: Frame[] = [];
  done: Done | null = null;
  /** Place of each cluster label in the palette. */
  slots: Uint16Array;
  plateaus: readonly Plateau[] = [];
  private readonly reaches: number[] = [];
  error: { argument: string; message: string; fix: string } | null = null;

  constructor(
    readonly id: number,
    readonly accepted: Accepted,
    readonly state: State,
  ) {
    this.slots = identitySlots(accepted.n);
  }

  /** The run is over: its outcome is known, and with it which clusters last and how long. */
  finish(done: Done): void {
    this.done = done;
    this.plateaus = plateausOf(this.frames);
    this.slots = colorSlots(this.frames, this.accepted.n);
  }

  /** Frames come in order; a frame out of order is refused so that a series never lies. */
  add(frame: Frame): boolean {
    if (frame.index !== this.frames.length) return false;
    this.frames.push(frame);
    return true;
  }

  /** Computed in this page while the server is asked. */
  get preview(): boolean {
    return this.id < 0;
  }

  get count(): number {
    return this.frames.length;
  }

  get last(): number {
    return Math.max(0, this.frames.length - 1);
  }

  /** The time asked for: the axis spans it before the run is over. */
  get horizon(): number {
    const end = this.frames[this.last]?.t ?? 0;
    return this.done !== null || this.frames.length === this.accepted.frames ? end : Math.max(end, this.state.t1);
  }

  /** Whether the energy only rose (for negative beta: fell); null where there is none. */
  get monotone(): boolean | null {
    const energy = this.series("energy");
    if (!energy.every(Number.isFinite)) return null;
    const slack = this.done?.dtype === "float32" ? 1e-6 : 1e-12;
    const sign = this.state.beta < 0 ? -1 : 1;
    return energy.every((value, k) => k === 0 || sign * (value - (energy[k - 1] as number)) >= -slack);
  }

  /** How a frame is placed in time, in words. */
  moment(k: number, digits = 4): string {
    return this.accepted.layers ? `layer ${k}` : `t = ${compactNumber(this.frames[k]?.t ?? 0, digits)}`;
  }

  /** Longest vector up to frame k: the size of a picture that is not on the sphere. */
  extent(k = this.last): number {
    for (let l = this.reaches.length; l <= Math.min(k, this.last); l++) {
      const { n, dshow, points } = this.frames[l] as Frame;
      let longest = this.reaches[l - 1] ?? 1e-9;
      for (let i = 0; i < n; i++) {
        const length = Math.hypot(...points.subarray(i * dshow, (i + 1) * dshow));
        if (Number.isFinite(length)) longest = Math.max(longest, length);
      }
      this.reaches.push(longest);
    }
    return this.reaches[Math.min(k, this.last)] ?? 1;
  }

  numbers(k: number): Numbers | null {
    const frame = this.frames[k];
    if (frame === undefined) return null;
    const { t, energy, clusters, largest, cosine } = frame;
    return { t, energy, clusters, largest, cosine };
  }

  series(name: SeriesName | "t" | "log10t" | "arc"): number[] {
    return this.frames.map((frame) => frame[name]);
  }
}
