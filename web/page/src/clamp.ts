/** Bring any object to a legal state, and say what was changed and why. */
import * as options from "./state";
import { defaultState, type Moved, type State, type View } from "./state";

export interface Clamp {
  key: string;
  asked: unknown;
  used: unknown;
  why: string;
}

interface Range {
  low: number;
  high: number;
  whole: boolean;
}

export const RANGES: Readonly<Record<string, Range>> = {
  beta: { low: -1e4, high: 1e4, whole: false },
  n: { low: 1, high: 4096, whole: true },
  d: { low: 2, high: 512, whole: true },
  t1: { low: 1e-6, high: 1e300, whole: false },
  seed: { low: 0, high: 2 ** 32 - 1, whole: true },
  heads: { low: 1, high: 8, whole: true },
  noise: { low: 0, high: 10, whole: false },
  h: { low: 1e-4, high: 1, whole: false },
  frames: { low: 2, high: 1001, whole: true },
};

const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  model: options.MODELS,
  init: options.INITS,
  weights: ["equal", "random"],
  solver: options.SOLVERS,
  dtype: ["float64", "float32"],
  merge: [false, true],
  clock: ["linear", "log"],
};

const VIEW_CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  axis: options.AXES,
  color: options.COLORS,
  projection: options.PROJECTIONS,
  theme: options.THEMES,
  panel: options.PANELS,
};

const IDENTIFIER = /^[A-Za-z0-9_.:-]{1,96}$/;
export const LARGEST_V = 16;
export const LARGEST_MATRIX = 4;
export const MOST_MOVED = 32;

/** One number inside its range; anything that is not a number becomes `otherwise`. */
export function clampNumber(
  key: string,
  asked: unknown,
  otherwise: number,
  report: Clamp[],
): number {
  const range = RANGES[key];
  if (range === undefined) throw new Error(`no range for ${key}`);
  if (typeof asked !== "number" || Number.isNaN(asked)) {
    report.push({ key, asked, used: otherwise, why: "not a number" });
    return otherwise;
  }
  const rounded = range.whole && Number.isFinite(asked) ? Math.round(asked) : asked;
  const used = Math.min(range.high, Math.max(range.low, rounded));
  if (used !== asked) {
    const why =
      used === rounded ? "must be a whole number" : `must lie between ${range.low} and ${range.high}`;
    report.push({ key, asked, used, why });
  }
  return used;
}

function isMatrix(asked: unknown, d: number): asked is number[][] {
  const row = (r: unknown): boolean => Array.isArray(r) && r.length === d && r.every((x) => typeof x === "number" && Number.isFinite(x));
  return Array.isArray(asked) && asked.length === d && d <= LARGEST_MATRIX && asked.every(row);
}

function clampV(asked: unknown, d: number, report: Clamp[]): State["V"] {
  if (asked === null || asked === "identity" || asked === "minus") return asked;
  if (typeof asked === "string" && asked.startsWith("file:") && IDENTIFIER.test(asked)) return asked;
  const numbers = Array.isArray(asked) && asked.every((v) => typeof v === "number" && Number.isFinite(v));
  if (numbers && asked.length === d && d <= LARGEST_V) {
    return asked.map((v: number) => Math.min(10, Math.max(-10, v)));
  }
  if (isMatrix(asked, d)) return asked;
  report.push({ key: "V", asked, used: null, why: `needs d = ${d} finite eigenvalues and d at most ${LARGEST_V}` });
  return null;
}

function clampMoved(asked: unknown, n: number, d: number, report: Clamp[]): Moved[] {
  const list = Array.isArray(asked) ? asked : [];
  const good = list.filter(
    (entry): entry is Moved =>
      Array.isArray(entry) &&
      Number.isInteger(entry[0]) &&
      entry[0] >= 0 &&
      entry[0] < n &&
      Array.isArray(entry[1]) &&
      entry[1].length === d &&
      entry[1].every((x: unknown) => typeof x === "number" && Number.isFinite(x)),
  );
  const used = good.slice(0, MOST_MOVED);
  if (!Array.isArray(asked) || used.length !== list.length) {
    report.push({ key: "moved", asked: `${list.length} tokens`, used: `${used.length} tokens`,
      why: `each needs an index below n and d numbers; at most ${MOST_MOVED}` });
  }
  return used;
}

function clampView(asked: unknown, n: number, report: Clamp[]): View {
  const view = { ...options.VIEW_DEFAULTS } as View & Record<string, unknown>;
  if (typeof asked !== "object" || asked === null) return view;
  for (const [key, value] of Object.entries(asked)) {
    const choices = VIEW_CHOICES[key];
    if (choices !== undefined) {
      if (choices.includes(value)) view[key] = value;
      else report.push({ key: `view.${key}`, asked: value, used: view[key], why: `one of ${choices.join(", ")}` });
    } else if (key === "frame" || key === "selected") {
      const limit = key === "selected" ? n - 1 : 1000;
      if (value === null) continue;
      if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= limit) view[key] = value;
      else report.push({ key: `view.${key}`, asked: value, used: null, why: `a whole number from 0 to ${limit}` });
    }
  }
  return view;
}

/** A legal state from anything, and the list of what had to change. */
export function clampState(asked: unknown): { state: State; clamped: Clamp[] } {
  const clamped: Clamp[] = [];
  const state = defaultState() as State & Record<string, unknown>;
  const given = (typeof asked === "object" && asked !== null && !Array.isArray(asked) ? asked : {}) as Record<string, unknown>;
  if (given !== asked) clamped.push({ key: "state", asked, used: "the default state", why: "not an object" });
  for (const [key, value] of Object.entries(given)) {
    const choices = CHOICES[key];
    if (RANGES[key] !== undefined) state[key] = clampNumber(key, value, state[key] as number, clamped);
    else if (choices !== undefined) {
      if (choices.includes(value)) state[key] = value;
      else clamped.push({ key, asked: value, used: state[key], why: `one of ${choices.join(", ")}` });
    } else if (key === "preset" || key === "file") {
      if (value === null || (typeof value === "string" && IDENTIFIER.test(value))) state[key] = value;
      else clamped.push({ key, asked: value, used: null, why: "not an identifier" });
    } else if (key === "v") {
      if (value !== 1) clamped.push({ key, asked: value, used: 1, why: "this page reads version 1" });
    } else if (!["V", "moved", "view"].includes(key)) {
      clamped.push({ key, asked: value, used: "ignored", why: "unknown key" });
    }
  }
  if ("V" in given) state.V = clampV(given["V"], state.d, clamped);
  if ("moved" in given) state.moved = clampMoved(given["moved"], state.n, state.d, clamped);
  if ("view" in given) state.view = clampView(given["view"], state.n, clamped);
  return { state, clamped };
}

/** "n: 1000000000 became 4096 (must lie between 1 and 4096)". */
export function clampSentence(clamp: Clamp): string {
  const show = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing")).slice(0, 60);
  return `${clamp.key}: ${show(clamp.asked)} became ${show(clamp.used)} (${clamp.why})`;
}
