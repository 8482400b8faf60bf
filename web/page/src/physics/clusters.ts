/** Clusters of a frame, with names that last: chains of tokens within a radius. */

/** A number per token: the same for tokens that a chain of steps of at most `radius` (an angle, without a sphere a length) joins. */
export function components(x: Float64Array, n: number, d: number, radius: number, round = true): Int32Array {
  const parent = Int32Array.from({ length: n }, (_, i) => i);
  const root = (i: number): number => {
    while (parent[i] !== i) i = parent[i] = parent[parent[i] as number] as number;
    return i;
  };
  const reach = round ? 4 * Math.sin(radius / 2) ** 2 : radius ** 2; // of a squared chord
  const far = Math.sqrt(reach);
  const order = Int32Array.from({ length: n }, (_, i) => i).sort((i, j) => (x[i * d] as number) - (x[j * d] as number));
  for (let a = 0; a < n; a++) {
    const i = order[a] as number;
    for (let b = a + 1; b < n; b++) {
      const j = order[b] as number;
      if ((x[j * d] as number) - (x[i * d] as number) > far) break;
      let square = 0;
      for (let c = 0; c < d && square <= reach; c++) square += ((x[i * d + c] as number) - (x[j * d + c] as number)) ** 2;
      if (square <= reach) parent[root(i)] = root(j);
    }
  }
  const names = new Map<number, number>();
  return Int32Array.from({ length: n }, (_, i) => {
    const r = root(i);
    if (!names.has(r)) names.set(r, names.size);
    return names.get(r) as number;
  });
}

/** A cluster keeps the name of the ancestor that gives it most mass; the heaviest part of a split keeps the name. */
export class Names {
  private before: Int32Array | null = null;
  private next = 0;

  follow(labels: Int32Array, mass: Float64Array): Int32Array {
    const count = 1 + labels.reduce((a, b) => Math.max(a, b), 0);
    const names = this.before === null ? this.fresh(labels, mass, count) : this.inherited(this.before, labels, mass, count);
    this.before = labels.map((label) => names[label] as number);
    return this.before;
  }

  private fresh(labels: Int32Array, mass: Float64Array, count: number): Int32Array {
    const sizes = new Float64Array(count);
    labels.forEach((label, i) => (sizes[label]! += mass[i] as number));
    const names = new Int32Array(count);
    [...sizes.keys()].sort((a, b) => (sizes[b] as number) - (sizes[a] as number)).forEach((label, place) => (names[label] = place));
    this.next = count;
    return names;
  }

  private inherited(before: Int32Array, labels: Int32Array, mass: Float64Array, count: number): Int32Array {
    const shared = new Map<string, { old: number; label: number; mass: number }>();
    labels.forEach((label, i) => {
      const old = before[i] as number;
      const pair = shared.get(`${old}/${label}`) ?? { old, label, mass: 0 };
      pair.mass += mass[i] as number;
      shared.set(`${old}/${label}`, pair);
    });
    const names = new Int32Array(count).fill(-1);
    const taken = new Set<number>();
    for (const { old, label } of [...shared.values()].sort((a, b) => b.mass - a.mass)) {
      if (names[label] !== -1 || taken.has(old)) continue;
      names[label] = old;
      taken.add(old);
    }
    return names.map((name) => (name < 0 ? this.next++ : name));
  }
}
