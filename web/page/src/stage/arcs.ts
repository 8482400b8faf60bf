/** Arcs from the selected token to those it looks at, or from those that moved it. */
import { Segments } from "./lines";
import type { Look } from "./scene";
import type { Surface } from "./surface";

const MOST_ARCS = 10;
const ARC_STEPS = 24;
/** Where the head of an arrow is on its arc, and how much of the arc it takes. */
const HEAD_AT = 0.07;
const HEAD_LONG = 0.09;

export class Arcs extends Segments {
  private tokens: Float32Array = new Float32Array(0);
  private readonly one = new Float32Array(3);
  private readonly other = new Float32Array(3);

  constructor(private readonly on: Surface) {
    super(MOST_ARCS * (ARC_STEPS + 2), "none", 5);
  }

  /** Chords, lifted outside the sphere, to the tokens attended to most; arrows from those that moved it, blue where they held it back. */
  show(places: Float32Array, { selected, theme, moved }: Pick<Look, "selected" | "theme" | "moved">, row: Float32Array | null): void {
    this.tokens = places;
    this.clear();
    if (row !== null && selected !== null) {
      const size = (i: number): number => Math.abs(row[i] as number);
      const order = Array.from(row.keys()).filter((i) => i !== selected && size(i) > 0).sort((i, j) => size(j) - size(i));
      const top = Math.max(1e-30, size(order[0] ?? 0));
      const pull = Float32Array.from(theme.dark ? [1, 0.85, 0.4] : [0.72, 0.33, 0]);
      const hold = Float32Array.from(theme.dark ? [0.55, 0.8, 1] : [0, 0.35, 0.7]);
      for (const j of order.slice(0, MOST_ARCS)) this.arc(selected, j, (row[j] as number) < 0 ? hold : pull, 0.9 * Math.sqrt(size(j) / top), moved);
    }
    this.commit();
  }

  private arc(i: number, j: number, tint: Float32Array, fade: number, headed: boolean): void {
    const p = this.tokens;
    const bend = (u: number, out: Float32Array): void => {
      const lift = 1 + (this.on === "sphere" ? 0.5 : 0.1) * u * (1 - u);
      let length = 0;
      for (let c = 0; c < 3; c++) {
        out[c] = (1 - u) * (p[3 * i + c] as number) + u * (p[3 * j + c] as number);
        length += (out[c] as number) ** 2;
      }
      const scale = this.on === "sphere" ? lift / Math.max(0.2, Math.sqrt(length)) : lift;
      for (let c = 0; c < 3; c++) out[c]! *= scale;
    };
    for (let k = 0; k < ARC_STEPS; k++) {
      bend(k / ARC_STEPS, this.one);
      bend((k + 1) / ARC_STEPS, this.other);
      this.segment(this.one, this.other, tint, fade);
    }
    if (headed) this.head(bend, tint, fade);
  }

  /** Two strokes before the selected token, where the arc arrives. */
  private head(bend: (u: number, out: Float32Array) => void, tint: Float32Array, fade: number): void {
    const [tip, back] = [new Float32Array(3), new Float32Array(3)];
    bend(HEAD_AT, tip);
    bend(HEAD_AT + HEAD_LONG, back);
    const along = back.map((b, c) => b - (tip[c] as number)) as Float32Array;
    const long = Math.hypot(...along);
    const across = crossed(along, tip);
    const wide = Math.hypot(...across);
    if (long < 1e-6 || wide < 1e-9) return;
    for (const side of [-1, 1]) {
      for (let c = 0; c < 3; c++) this.other[c] = (back[c] as number) + (0.4 * side * long * (across[c] as number)) / wide;
      this.segment(tip, this.other, tint, fade);
    }
  }
}

function crossed(a: Float32Array, b: Float32Array): Float32Array {
  const [ax, ay, az, bx, by, bz] = [...a, ...b] as [number, number, number, number, number, number];
  return Float32Array.of(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
}
