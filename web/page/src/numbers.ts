/** Numbers as people read them. */

/** Three or four significant digits, powers of ten outside 1e-3 .. 1e5. */
export function compactNumber(x: number, digits = 4): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "not a number" : x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size < 1e-3 || size >= 1e6) return x.toExponential(digits - 2).replace(/\.?0+e/, "e").replace("e+", "e").replaceAll("-", "−");
  return String(Number(x.toPrecision(digits))).replace("-", "−");
}

export function percent(x: number): string {
  return `${Number((100 * x).toPrecision(3))} %`;
}

/** A lifetime in words. */
export function lifetimeInWords(lifetime: number | null): string {
  return lifetime === null ? "more than a double can hold" : compactNumber(lifetime);
}

export function plural(count: number, word: string): string {
  return `${compactNumber(count)} ${word}${count === 1 ? "" : "s"}`;
}

/** Round to a few significant digits, so that a slider gives 9 and not 8.97334. */
export function significant(x: number, digits: number): number {
  return x === 0 ? 0 : Number(x.toPrecision(digits));
}
