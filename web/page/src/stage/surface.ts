/** Where the drawn points live: on the sphere (the far side fades), on the circle, or in a ball. */
export type Surface = "sphere" | "circle" | "none";

export function surfaceOf(d: number, space: string | undefined): Surface {
  if (space === "euclidean" || d > 3) return "none";
  return d === 2 ? "circle" : "sphere";
}
