/** What the page says in words: status, values, and the text alternative of the picture. */
import { compactNumber, lifetimeInWords, percent, plural } from "./numbers";
import { plateauAt } from "./plateaus";
import type { Done, Run } from "./run";
import type { State } from "./state";

export function betaInWords(beta: number): string {
  const value = `β = ${compactNumber(beta)}`;
  if (beta < 0) return `${value}: each token looks at those least like it`;
  if (beta === 0) return `${value}: every token sees all others alike`;
  if (beta <= 1) return `${value}: soft attention`;
  if (beta < 30) return `${value}: selective attention`;
  return `${value}: nearly hard attention`;
}

export function dimensionInWords(d: number, space = "sphere"): string {
  if (space === "euclidean") return d === 1 ? "d = 1: the line" : d === 2 ? "d = 2: the plane" : `d = ${d}: all of R^${d}`;
  if (d === 2) return "d = 2: the circle";
  if (d === 3) return "d = 3: the sphere";
  return `d = ${d}: the unit sphere of ${d} dimensions, projected`;
}

/** When n orthogonal tokens have moved: their common cosine grows at the rate 2 n / (e^beta + n) at first. */
export function waitOf(beta: number, n: number): number {
  return (Math.exp(Math.min(beta, 300)) + n) / (2 * n);
}

const KINDS: Readonly<Record<string, string>> = {
  reached: "reached the end",
  one_cluster: "one cluster",
  stationary: "stationary",
  frozen: "frozen at machine precision",
  stopped: "stopped as asked",
  diverged: "diverged",
  interrupted: "interrupted",
  budget: "out of steps",
  until: "stopped as asked",
  recorded: "recorded",
};

/** The kind of an outcome as a short phrase; what is not known is shown as it came. */
export function kindInWords(kind: string): string {
  const key = kind.toLowerCase().replace(/[\s-]+/g, "_");
  for (const [name, words] of Object.entries(KINDS)) if (key.startsWith(name)) return words;
  return kind.replace(/_/g, " ");
}

/** The small print of a finished run. */
export function honesty(run: Run, done: Done): string[] {
  if (done.steps === 0) return run.accepted.run.startsWith("here") ? ["computed here", done.dtype] : [done.dtype]; // recorded, not integrated
  const steps = `${plural(done.steps, "step")}${done.rejected > 0 ? `, ${compactNumber(done.rejected)} rejected` : ""}`;
  return [
    `norm drift ${done.norm_drift === null ? "not finite" : compactNumber(done.norm_drift, 3)}`,
    ...(run.monotone === null ? [] : [run.monotone ? "energy monotone" : "energy not monotone"]),
    steps,
    done.dtype,
    `${compactNumber(done.seconds, 3)} s`,
  ];
}

export interface Moment {
  frame: number;
  playing: boolean;
}

/** What is true at the head: how a run ends is said when the head is there, or as what is to come. */
export function statusSentence(run: Run | null, waiting: string | null, head: Moment): string {
  if (waiting !== null) return waiting;
  if (run === null) return "No run yet.";
  if (run.error !== null) return `${run.error.message} ${run.error.fix}`.trim();
  if (run.preview) return `Preview, computed in this page: ${run.moment(head.frame)}. The library's own run is on its way.`;
  const kind = run.done === null ? "" : kindInWords(run.done.outcome.kind);
  if (run.done !== null && head.frame >= run.last) return `${kind[0]?.toUpperCase() ?? ""}${kind.slice(1)}: ${run.done.outcome.sentence}`;
  const now = `${run.moment(head.frame)} of ${compactNumber(run.horizon)}`;
  if (head.playing) return `Playing: ${now}.`;
  if (run.done === null) return `Running: ${now}.`;
  return `Paused: ${now}.${kind === KINDS["reached"] || kind === KINDS["recorded"] ? "" : ` It ends: ${kind}.`}`;
}

/** The picture in words, for those who do not see it. */
export function alternative(run: Run, k: number, selected: number | null): string {
  const frame = run.frames[k];
  if (frame === undefined) return "Nothing is drawn yet.";
  const where = dimensionInWords(run.accepted.d, run.accepted.space);
  if (Number.isNaN(frame.clusters)) return `Frame ${k + 1} of ${run.count}, ${run.moment(k)}, ${where}. ${run.accepted.density ? "A density" : "A Gaussian"}, drawn at ${frame.n} points.`;
  const parts = [
    `Frame ${k + 1} of ${run.count}, ${run.moment(k)}, ${where}.`,
    `${plural(frame.n, "token")} in ${plural(frame.clusters, "cluster")};`,
    `the largest holds ${percent(frame.largest)} of the mass.`,
    Number.isFinite(frame.energy) ? `Energy ${compactNumber(frame.energy, 3)}, mean cosine ${compactNumber(frame.cosine, 3)}.` : "Without a sphere there is no cosine.",
  ];
  const plateau = plateauAt(run.plateaus, k);
  if (plateau !== null) {
    parts.push(`On a plateau of ${plural(plateau.clusters, "cluster")} that lasts ${lifetimeInWords(plateau.lifetime)}.`);
  }
  if (selected !== null) parts.push(`Token ${selected} is selected; it is in cluster ${frame.labels[selected] ?? "?"}.`);
  return parts.join(" ");
}

/** One line that names the run, when the server sends none. */
export function runInWords(state: State): string {
  return `${state.n} tokens, d = ${state.d}, β = ${compactNumber(state.beta)}, to t = ${compactNumber(state.t1)}, seed ${state.seed}`;
}
