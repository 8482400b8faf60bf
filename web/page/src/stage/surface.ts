import type { Accepted } from "../run";

/** Where the drawn points live: on the sphere (the far side fades), on the circle, or in a ball. */
export type Surface = "sphere" | "circle" | "none";

export function surfaceOf({ d, space, density }: Pick<Accepted, "d" | "space" | "density">): Surface {
  if (space === "euclidean" || d > 3 || (density && d === 2)) return "none";
  return d === 2 ? "circle" : "sphere";
}

/** How much of a density there is, in (0, 1): the uniform one is in the middle. */
export const fullness = (rho: number): number => Math.max(0, rho) / (1 + Math.max(0, rho));
