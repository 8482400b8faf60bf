/** What the picture is, said below it: a projection says what it keeps. */
import { percent } from "./numbers";
import { lineStep } from "./stage/rainbow";
import type { Accepted } from "./run";
import type { Projection } from "./state";

export function stageNote({ d, n, space, density, width, known }: Pick<Accepted, "d" | "n" | "space" | "density" | "width" | "known">, projection: Projection, kept: number, enlarged = 1): string {
  if (density) return d === 2 ? "A density: the further out, the more of it; the ring is the uniform one" : "A density: the brighter, the more of it; half-way up the scale is the uniform one";
  if (space === "euclidean" && d === 1) return "The line, and the place of every token against time";
  if (space === "euclidean") return d > 3 ? `${d} dimensions without a sphere, scaled to fit` : `Without a sphere: scaled to fit what has been reached${known ? "; the net is the unit sphere" : ""}`;
  if (d === 2 && lineStep(n) === 1) return "The circle, and the angle of every token against time";
  if (d === 2) return `The circle with all ${n} tokens; the angle against time of every ${ordinal(lineStep(n))} token`;
  if (d === 3) return "";
  const name = { "pca-end": "PCA of the end", "pca-now": "PCA of now", axes: "three coordinates of the PCA basis" }[projection];
  return `${name}: keeps ${percent(kept)} of the squared length of ${width ?? d} dimensions${enlarged > 1 ? `, drawn ${enlarged} times larger` : ""}`;
}

const ordinal = (k: number): string => (k === 2 ? "second" : k === 3 ? "third" : `${k}th`);
