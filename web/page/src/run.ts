/** One run kept in the page: its frames, its series, its plateaus. Scrubbing reads only from here. */
import type { Frame } from "./frames";
import type { Plateau } from "./plateaus";
import type { State } from "./state";

export interface Outcome {
  kind: string;
  sentence: string;
}

export interface Done {
  outcome: Outcome;
  steps: number;
  rejected: number;
  norm_drift: number | null;
  energy_monotone: boolean;
  dtype: string;
  seconds: number;
  plateaus: Plateau[];
  variance?: number[];
}

export interface Accepted {
  run: string;
  state: Partial<State>;
  n: number;
  d: number;
  frames: number;
  space?: string;
  radius?: number;
  equation: string;
  python: string;
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
  error: { argument: string; message: string; fix: string } | null = null;

  constructor(
    readonly id: number,
    readonly accepted: Accepted,
    readonly state: State,
  ) {}

  /** Frames come in order; a frame out of order is refused so that a series never lies. */
  add(frame: Frame): boolean {
    if (frame.index !== this.frames.length) return false;
    this.frames.push(frame);
    return true;
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

  get plateaus(): readonly Plateau[] {
    return this.done?.plateaus ?? [];
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
