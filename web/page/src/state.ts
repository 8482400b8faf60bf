/** The state of the page: the keys of its controls, as declared in Python, and how it is looked at. */
import declared from "./declared.json";
import type { Norm } from "./physics/field";

export interface Choice {
  value: string | boolean;
  label: string;
  formula?: string;
}

/** One thing a person may change: label, help, range, default and choices come from Python. */
export interface Control {
  key: string;
  label: string;
  help: string;
  kind: string;
  default: number | string | boolean;
  low?: number;
  high?: number;
  choices?: Choice[];
}

export const CONTROLS: readonly Control[] = declared.controls;
export const MOST_EIGENVALUES = declared.eigenvalues;
export const AXES = ["linear", "log", "arc", "layer"] as const;
/** What fits the run: see `axisOf` and `colorOf`. */
export const USUAL = "usual";
export const COLORS = ["cluster", "start", "index", "mass", "speed"] as const;
export const PROJECTIONS = ["pca-end", "pca-now", "axes"] as const;
export const THEMES = ["auto", "light", "dark"] as const;
export const MARKS = ["balls", "shapes"] as const;
export const MOST_LETTERS = 600;
export const PANELS = ["attention", "phase", "story", "share"] as const;

export type Axis = (typeof AXES)[number];
export type ColorMode = (typeof COLORS)[number];
export type Projection = (typeof PROJECTIONS)[number];
export type ThemeChoice = (typeof THEMES)[number];
export type PanelName = (typeof PANELS)[number];
export type Marks = (typeof MARKS)[number];
export type Moved = [number, number[]];

export interface View {
  axis: Axis | typeof USUAL;
  color: ColorMode | typeof USUAL;
  projection: Projection;
  frame: number | null;
  selected: number | null;
  theme: ThemeChoice;
  panel: PanelName;
  marks: Marks;
  /** How the stage is turned, a quaternion, and how far away the eye is; null as it was built. */
  camera: number[] | null;
  /** A sentence whose words name the tokens. */
  words: string | null;
}

export interface State {
  preset: string | null;
  model: string;
  beta: number;
  n: number;
  d: number;
  t1: number;
  seed: number;
  init: string;
  file: string | null;
  norm: Norm;
  perceptron: number;
  heads: number;
  /** Null is the identity; a list is a diagonal; a list of rows is a whole matrix. */
  V: null | string | number[] | number[][];
  noise: number;
  weights: string;
  solver: string;
  h: number;
  dtype: string;
  merge: boolean;
  frames: number;
  clock: string;
  moved: Moved[];
  /** The text of a run that no controls make; null where they do. */
  experiment: string | Asked | null;
  view: View;
}

/** What can be asked for: some keys of a state, or an experiment and keys that change it. */
export type Asked = Record<string, unknown>;

export const VIEW_DEFAULTS: Readonly<View> = Object.freeze({
  axis: USUAL, color: USUAL, projection: "pca-end", frame: null, selected: null, theme: "auto", panel: "attention", marks: "balls", camera: null, words: null,
});
const VIEW_CHOICES: Readonly<Record<string, readonly unknown[]>> = { axis: [USUAL, ...AXES], color: [USUAL, ...COLORS], projection: PROJECTIONS, theme: THEMES, panel: PANELS, marks: MARKS };

export function controlOf(key: string): Control {
  const found = CONTROLS.find((control) => control.key === key);
  if (found === undefined) throw new Error(`no control ${key}`);
  return found;
}

/** A fresh copy of the default state. */
export function defaultState(): State {
  const run = Object.fromEntries(CONTROLS.map((control) => [control.key, control.default]));
  return { ...run, preset: null, file: null, V: null, moved: [], experiment: null, view: { ...VIEW_DEFAULTS } } as unknown as State;
}

/** Time as its frames lie in it. */
export const axisOf = ({ view, clock }: State): Axis => (view.axis !== USUAL ? view.axis : clock === "log" ? "log" : "linear");

/** On the circle a token keeps the colour of its first angle; of many dimensions and on the sphere that of its last cluster. */
export const colorOf = ({ view, d }: State): ColorMode => (view.color !== USUAL ? view.color : d === 2 ? "start" : "cluster");

/** Whether a state is run as its text says, and not as the controls do. */
export const asGiven = (state: State): boolean => state.experiment !== null;

/** Anything as a state whose values have the right types, to be shown; the server decides what is in range. */
export function shaped(asked: Asked): State {
  const state = defaultState() as State & Asked;
  for (const { key, default: usual } of CONTROLS) if (typeof asked[key] === typeof usual) state[key] = asked[key];
  for (const key of ["preset", "file"]) if (typeof asked[key] === "string") state[key] = asked[key];
  if (typeof asked["V"] === "string" || Array.isArray(asked["V"])) state.V = asked["V"] as State["V"];
  if (Array.isArray(asked["moved"])) state.moved = asked["moved"] as Moved[];
  if (typeof asked["experiment"] === "string" || isTable(asked["experiment"])) state.experiment = asked["experiment"];
  state.view = viewOf(asked["view"]);
  return state;
}

const isTable = (value: unknown): value is Asked => typeof value === "object" && value !== null && !Array.isArray(value);

function viewOf(asked: unknown): View {
  const view = { ...VIEW_DEFAULTS } as View & Asked;
  for (const [key, value] of Object.entries(asked ?? {})) {
    if (VIEW_CHOICES[key]?.includes(value)) view[key] = value;
    else if (key === "camera" && Array.isArray(value) && value.length === 5 && value.every(Number.isFinite)) view.camera = value as number[];
    else if (key === "words" && typeof value === "string") view.words = value.slice(0, MOST_LETTERS);
    else if ((key === "frame" || key === "selected") && Number.isInteger(value) && (value as number) >= 0) view[key] = value as number;
  }
  return view;
}
