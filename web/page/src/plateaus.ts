/** Plateaus of the cluster count: where they are, how to jump between them. */

export interface Plateau {
  /** First and last frame. */
  from: number;
  to: number;
  clusters: number;
  /** Null when it is too long for a double. */
  lifetime: number | null;
  /** Its width on the logarithmic axis. */
  log10_lifetime?: number | null;
}

/** The frame to go to from frame k: the start of the next plateau, or of the one before. */
export function jump(plateaus: readonly Plateau[], k: number, step: 1 | -1): number | null {
  const starts = plateaus.map((plateau) => plateau.from).sort((a, b) => a - b);
  if (step === 1) return starts.find((start) => start > k) ?? null;
  return starts.filter((start) => start < k).at(-1) ?? null;
}

/** The plateau a frame lies in. */
export function plateauAt(plateaus: readonly Plateau[], k: number): Plateau | null {
  return plateaus.find((plateau) => k >= plateau.from && k <= plateau.to) ?? null;
}
