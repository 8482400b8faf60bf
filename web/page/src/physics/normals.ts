/** Numbers for a preview: drawn here, from a seed, and not the library's. */

/** Uniform in (0, 1): Marsaglia's xorshift of 32 bits, mixed once. */
export function uniforms(seed: number): () => number {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ 0xc2b2ae35) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 0.5) / 4294967296;
  };
}

/** Standard normal, by Box and Muller. */
export function normals(seed: number): () => number {
  const uniform = uniforms(seed);
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** Tokens uniform on the sphere. */
export function uniformTokens(n: number, d: number, seed: number): Float64Array {
  const normal = normals(seed);
  for (let k = 0; k < 16; k++) normal();
  return Float64Array.from({ length: n * d }, normal);
}
