/** Sliders: how a position on a native range input becomes a value, and back. */
import { significant } from "./numbers";
import { controlOf } from "./state";

export const BETA_STEPS = 600;
const LARGEST = controlOf("beta").high as number;
const LOWEST = -2;
const HIGHEST = Math.log10(LARGEST);

/** Position 0 is beta = 0; then 0.01 to the largest, evenly in the logarithm. */
export function betaOf(position: number): number {
  if (position <= 0) return 0;
  const exponent = LOWEST + ((HIGHEST - LOWEST) * (position - 1)) / (BETA_STEPS - 1);
  return significant(10 ** exponent, 3);
}

export function positionOf(beta: number): number {
  if (beta <= 0) return 0;
  const exponent = Math.min(HIGHEST, Math.max(LOWEST, Math.log10(beta)));
  return Math.round(1 + ((exponent - LOWEST) / (HIGHEST - LOWEST)) * (BETA_STEPS - 1));
}

/** One press of + or -: about a fifth of an octave, through zero to repulsion and back. */
export function stepBeta(beta: number, direction: 1 | -1): number {
  const factor = 10 ** 0.05;
  const size = Math.abs(beta);
  if (size < 0.01) return direction === 1 ? (beta < 0 ? 0 : 0.01) : beta > 0 ? 0 : -0.01;
  const grown = direction * Math.sign(beta) > 0 ? size * factor : size / factor;
  const next = grown < 0.01 ? 0 : Math.sign(beta) * significant(grown, 3);
  return Math.min(LARGEST, Math.max(-LARGEST, next));
}

export const TOKEN_COUNTS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 200, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
export const DIMENSIONS = [2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512];

/** The place of the nearest value of a list, in the logarithm. */
export function nearestPlace(list: readonly number[], value: number): number {
  let best = 0;
  list.forEach((item, i) => {
    const here = Math.abs(Math.log(item) - Math.log(Math.max(1e-9, value)));
    if (here < Math.abs(Math.log(list[best] as number) - Math.log(Math.max(1e-9, value)))) best = i;
  });
  return best;
}

/** Speed slider: frames per second, 2 to 240, evenly in the logarithm. */
export function speedOf(position: number): number {
  return significant(2 * 120 ** (position / 100), 2);
}
