/** The state of the page: what a link, a preset and a run message carry. */

export const MODELS = ["sa", "usa", "causal", "hard", "layer", "rescaled", "recorded"] as const;
export const INITS = ["uniform", "clustered", "equispaced", "orthonormal", "gaussian", "file"] as const;
export const SOLVERS = ["adaptive", "layers", "heun"] as const;
export const AXES = ["linear", "log", "arc", "layer"] as const;
export const COLORS = ["cluster", "start", "index", "mass", "speed"] as const;
export const PROJECTIONS = ["pca-end", "pca-now", "axes"] as const;
export const THEMES = ["auto", "light", "dark"] as const;
export const PANELS = ["attention", "phase", "story", "share"] as const;

export type Axis = (typeof AXES)[number];
export type ColorMode = (typeof COLORS)[number];
export type Projection = (typeof PROJECTIONS)[number];
export type ThemeChoice = (typeof THEMES)[number];
export type PanelName = (typeof PANELS)[number];
export type Moved = [number, number[]];

export interface View {
  axis: Axis;
  color: ColorMode;
  projection: Projection;
  frame: number | null;
  selected: number | null;
  theme: ThemeChoice;
  panel: PanelName;
}

export interface State {
  v: 1;
  preset: string | null;
  model: (typeof MODELS)[number];
  beta: number;
  n: number;
  d: number;
  t1: number;
  seed: number;
  init: (typeof INITS)[number];
  file: string | null;
  heads: number;
  /** Null is the identity; a list is a diagonal; a list of rows is a whole matrix. */
  V: null | string | number[] | number[][];
  noise: number;
  weights: "equal" | "random";
  solver: (typeof SOLVERS)[number];
  h: number;
  dtype: "float64" | "float32";
  merge: boolean;
  frames: number;
  clock: "linear" | "log";
  moved: Moved[];
  view: View;
}

export const VIEW_DEFAULTS: Readonly<View> = Object.freeze({
  axis: "linear",
  color: "cluster",
  projection: "pca-end",
  frame: null,
  selected: null,
  theme: "auto",
  panel: "attention",
});

export const DEFAULTS: Readonly<State> = Object.freeze({
  v: 1,
  preset: null,
  model: "sa",
  beta: 9,
  n: 64,
  d: 3,
  t1: 20,
  seed: 0,
  init: "uniform",
  file: null,
  heads: 1,
  V: null,
  noise: 0,
  weights: "equal",
  solver: "adaptive",
  h: 0.1,
  dtype: "float64",
  merge: false,
  frames: 201,
  clock: "linear",
  moved: [],
  view: VIEW_DEFAULTS,
});

/** A fresh copy of the default state. */
export function defaultState(): State {
  return { ...DEFAULTS, moved: [], view: { ...VIEW_DEFAULTS } };
}
