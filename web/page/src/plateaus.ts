/** Plateaus of the cluster count: where they are, how to jump between them. */

export interface Plateau {
  /** First and last frame. */
  from: number;
  to: number;
  clusters: number;
  /** Null when it is too long for a double. */
  lifetime: number | null;
  /** Its width on the logarithmic axis. */
  log10_lifetime: number;
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

const SHORTEST = 3;

/** Stretches of frames with the same number of clusters, fewer than tokens; a density has none. */
export function plateausOf(frames: readonly { n: number; t: number; log10t: number; clusters: number }[]): Plateau[] {
  const shortest = Math.max(SHORTEST, Math.floor(frames.length / 40));
  const found: Plateau[] = [];
  let from = 0;
  for (let k = 1; k <= frames.length; k++) {
    const [first, last] = [frames[from]!, frames[k - 1]!];
    if (k < frames.length && frames[k]!.clusters === first.clusters) continue;
    if (k - from >= shortest && first.clusters <= Math.max(first.n / 2, 8)) {
      const lifetime = last.t - first.t;
      found.push({ from, to: k - 1, clusters: first.clusters, lifetime: Number.isFinite(lifetime) ? lifetime : null, log10_lifetime: last.log10t - Math.max(first.log10t, -3) });
    }
    from = k;
  }
  return found;
}
