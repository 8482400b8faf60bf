/** Frames of a preview: the same numbers as the server's, measured here. */
import type { Frame } from "../frames";
import { components, Names } from "./clusters";
import { leaves, type Field } from "./field";

/** sum_ij w_i w_j e^{beta <x_i, x_j> - |beta|}: 2 beta e^{-|beta|} times the interaction energy. */
function energy({ n, d, beta, mass }: Field, x: Float64Array): number {
  let total = 0;
  for (let i = 0; i < n; i++) {
    let row = 0;
    for (let j = 0; j < i; j++) {
      let cosine = 0;
      for (let c = 0; c < d; c++) cosine += (x[i * d + c] as number) * (x[j * d + c] as number);
      row += (mass[j] as number) * Math.exp(beta * cosine - Math.abs(beta));
    }
    total += (mass[i] as number) * (2 * row + (mass[i] as number) * Math.exp(beta - Math.abs(beta)));
  }
  return total;
}

/** The mean of <x_i, x_j> over i != j: (|sum w x|^2 - sum w^2) / (1 - sum w^2). */
function meanCosine({ n, d, mass }: Field, x: Float64Array): number {
  if (n === 1) return 1;
  let square = 0;
  for (let c = 0; c < d; c++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += (mass[i] as number) * (x[i * d + c] as number);
    square += sum * sum;
  }
  const alone = mass.reduce((sum, m) => sum + m * m, 0);
  return (square - alone) / (1 - alone);
}

export class FrameRecorder {
  private readonly names = new Names();
  private before: Float64Array | null = null;
  private arc = 0;
  private index = 0;

  constructor(private readonly id: number, private readonly field: Field, private readonly radius: number, private readonly weighted: boolean) {}

  frame(t: number, x: Float64Array, last: boolean): Frame {
    const { n, d, mass } = this.field;
    const flat = leaves(this.field); // without a sphere there is no energy and no cosine
    const labels = components(x, n, d, this.radius, !flat);
    const sizes = new Float64Array(1 + labels.reduce((a, b) => Math.max(a, b), 0));
    labels.forEach((label, i) => (sizes[label]! += mass[i] as number));
    if (this.before !== null) this.arc += Math.sqrt(x.reduce((sum, value, m) => sum + (value - (this.before as Float64Array)[m]!) ** 2, 0));
    this.before = x;
    return {
      id: this.id, index: this.index++, n, dshow: d, last, t, log10t: Math.log10(t), energy: flat ? NaN : energy(this.field, x), clusters: sizes.length,
      largest: Math.max(...sizes), cosine: flat ? NaN : meanCosine(this.field, x), arc: this.arc, points: Float32Array.from(x),
      labels: Uint16Array.from(this.names.follow(labels, mass), (name) => name % 65536),
      mass: this.weighted ? Float32Array.from(mass) : null, histogram: null,
    };
  }
}
