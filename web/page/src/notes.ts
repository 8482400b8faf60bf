/** What the picture is, said below it: a projection says what it keeps. */
import { percent } from "./numbers";
import { lineStep } from "./stage/rainbow";
import type { Projection } from "./state";

export function stageNote(d: number, projection: Projection, kept: number, n: number, space = "sphere", enlarged = 1): string {
  if (space === "euclidean") return d > 3 ? `${d} dimensions without a sphere, scaled to fit` : "Without a sphere: scaled to fit";
  if (d === 2 && lineStep(n) === 1) return "The circle, and the angle of every token against time";
  if (d === 2) return `The circle with all ${n} tokens; the angle against time of every ${ordinal(lineStep(n))} token`;
  if (d === 3) return "";
  const name = { "pca-end": "PCA of the end", "pca-now": "PCA of now", axes: "three coordinates of the PCA basis" }[projection];
  return `${name}: keeps ${percent(kept)} of the squared length of ${d} dimensions${enlarged > 1 ? `, drawn ${enlarged} times larger` : ""}`;
}

const ordinal = (k: number): string => (k === 2 ? "second" : k === 3 ? "third" : `${k}th`);
