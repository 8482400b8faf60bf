/** The drawing of one run: tokens, tails, paths, trail, arcs. Buffers are made once per run. */
import { Group } from "three";
import { rgbToCss, type Rgb } from "../palette";
import type { Run } from "../run";
import type { ColorMode, Projection } from "../state";
import type { Theme } from "../theme";
import { Arcs } from "./arcs";
import { clusterShares, colorTokens, newShares, type Shares } from "./coloring";
import { Segments } from "./lines";
import { Paths } from "./paths";
import { TokenMarks } from "./marks";
import type { Ring } from "./overlay";
import { surfaceOf, type Surface } from "./surface";
import { basisFor, keptShare, lifted, project, type Basis } from "./projection";

const MOST_RINGS = 96;
/** Of a path that is projected anew with every frame. */
const RECENT_FRAMES = 40;

export interface Look {
  color: ColorMode;
  projection: Projection;
  places: [number, number, number];
  selected: number | null;
  row: Float32Array | null;
  /** The row is who moved the selected token, signed: arrows, not arcs. */
  moved: boolean;
  theme: Theme;
  /** Shapes tell clusters apart without colours; balls are handsomer. */
  shapes: boolean;
  /** A question is open: colours must not tell where tokens end. */
  veiled: boolean;
}

/** The weighted sum of the points of every cluster, and its first token. */
function sums(labels: Uint16Array, points: Float32Array, weight: (i: number) => number): Map<number, { sum: Float32Array; first: number }> {
  const found = new Map<number, { sum: Float32Array; first: number }>();
  labels.forEach((label, i) => {
    const cluster = found.get(label) ?? { sum: new Float32Array(3), first: i };
    for (let c = 0; c < 3; c++) cluster.sum[c]! += weight(i) * (points[3 * i + c] as number);
    found.set(label, cluster);
  });
  return found;
}

export class RunScene {
  readonly object = new Group();
  readonly marks: TokenMarks;
  readonly shares: Shares;
  kept = 1;
  basis: Basis | null = null;
  frame = -1;
  readonly surface: Surface;
  private readonly paths: Paths;
  private readonly trail: Segments;
  private readonly arcs: Arcs;
  /** Frames in the drawn coordinates, kept while the projection stays. */
  private readonly drawn = new Map<number, Float32Array>();
  private readonly far: Float32Array;
  private last: Shares | null = null;
  private aim: Float32Array | null = null;
  /** The frame up to which paths are there. */
  private walked = 0;
  private readonly alike: Uint16Array;
  private readonly tint = new Float32Array(3);

  constructor(private readonly run: Run, hollow = false) {
    const n = run.accepted.n;
    this.surface = surfaceOf(run.accepted);
    const { density } = run.accepted;
    this.marks = new TokenMarks(n, this.surface, density ? "density" : hollow ? "hollow" : "tokens");
    this.shares = newShares(n);
    this.alike = new Uint16Array(n);
    this.far = new Float32Array(3 * n);
    this.paths = new Paths(density || hollow ? 0 : n, this.surface);
    this.trail = new Segments(1001, this.surface, 4);
    this.arcs = new Arcs(this.surface);
    for (const part of [this.paths, this.marks, this.trail, this.arcs]) this.object.add(part.object);
  }

  /** A projection of many dimensions lies near the middle: by how much it is enlarged. */
  get enlarged(): number {
    if (this.run.accepted.d <= 3 || this.run.accepted.space === "euclidean") return 1;
    let far = 0;
    for (const frame of [this.run.frames[0], this.run.frames[this.run.last]]) {
      if (frame === undefined || this.basis === null) continue;
      project(frame, this.basis, this.far);
      for (let i = 0; i < frame.n; i++) far = Math.max(far, Math.hypot(...this.far.subarray(3 * i, 3 * i + 3)));
    }
    return far > 0 ? Math.min(4, Math.max(1, Math.round((10 * 0.85) / far) / 10)) : 1;
  }

  /** Fill every buffer for whole frame k; between frames only `mix` changes. */
  set(k: number, look: Look): void {
    const { frames } = this.run;
    const frame = frames[k];
    if (frame === undefined) return;
    const next = frames[Math.min(k + 1, frames.length - 1)] ?? frame;
    this.frame = k;
    const basis = basisFor(look.projection, frame, this.basis, look.places);
    const anew = this.basis === null || basis.some((row, c) => row.some((x, a) => x !== this.basis?.[c]?.[a]));
    this.basis = basis;
    if (anew) this.drawn.clear();
    this.marks.before.set(this.placesAt(k));
    this.marks.after.set(this.placesAt(Math.min(k + 1, frames.length - 1)));
    this.kept = keptShare(this.marks.before, frame.n);
    clusterShares(frame, this.shares);
    colorTokens(this.run.accepted.density ? "density" : look.color, frame, next, frames[0] ?? frame, this.shares, look.veiled ? this.alike : this.run.slots, look.theme.dark, this.marks, look.veiled ? this.alike : this.ends(frame.labels));
    this.marks.dress(look.theme.dark, look.shapes);
    this.fillSizes(frame.labels, look.shapes);
    this.light(look);
    this.fillPaths(k, look, anew);
    this.marks.changed("position", "after", "tint", "shape", "size");
  }

  /** Masses of the clusters that the colours name. */
  endShares(): Shares {
    const last = this.run.frames[this.run.last];
    if (this.run.done === null || last === undefined) return this.shares;
    if (this.last === null) clusterShares(last, (this.last = newShares(last.n)));
    return this.last;
  }

  /** The direction from which most mass is seen at the end of a finished run; null before. */
  heaviest(): Float32Array | null {
    const last = this.run.frames[this.run.last];
    if (this.run.done === null || last === undefined) return null;
    if (this.aim !== null) return this.aim;
    const centers = [...sums(last.labels, last.points, (i) => (last.mass?.[i] ?? 1 / last.n) as number).values()].map(({ sum }) => sum);
    const seen = (from: Float32Array): number => {
      const length = Math.hypot(...from) || 1;
      let sum = 0;
      for (const center of centers) sum += Math.max(0, center.reduce((dot, value, c) => dot + value * (from[c] as number), 0) / length);
      return sum;
    };
    let best: Float32Array = new Float32Array(3);
    for (const center of centers) if (seen(center) > seen(best)) best = center;
    return (this.aim = best);
  }

  /** Labels of the last frame, once it is the last. */
  private ends(present: Uint16Array): Uint16Array {
    return this.run.done === null ? present : (this.run.frames[this.run.last]?.labels ?? present);
  }

  /** A cluster is a ball that grows with its mass: the ball of every token in it does. */
  private fillSizes(labels: Uint16Array, shapes: boolean): void {
    const { byLabel, counts } = this.shares;
    labels.forEach((label, i) => {
      const heavy = !shapes && (counts[label] ?? 0) > 1;
      this.marks.sizes[i] = heavy ? 1 + 1.5 * Math.sqrt(byLabel[label] as number) : 0.9;
    });
  }

  /** Three coordinates of every token in frame k. */
  private placesAt(k: number): Float32Array {
    const frame = this.run.frames[k];
    const known = this.drawn.get(k);
    if (known !== undefined || frame === undefined || this.basis === null) return known ?? this.far;
    const lifts = this.run.accepted.density === true && frame.dshow === 2;
    const places = frame.dshow === 3 ? frame.points : new Float32Array(3 * frame.n);
    if (frame.dshow !== 3) project(frame, this.basis, places);
    if (lifts) lifted(frame, places);
    this.drawn.set(k, places);
    return places;
  }

  /** Whoever projects every frame anew draws the last part of the way. */
  private fillPaths(k: number, { projection, theme }: Look, anew: boolean): void {
    const last = Math.min(k + 1, this.run.last);
    const turning = this.run.accepted.d > 3 && projection === "pca-now";
    if (anew || last > this.walked) {
      const first = turning ? Math.max(0, k - RECENT_FRAMES) : 0;
      this.walked = turning ? last : this.run.last;
      this.paths.grow((f) => this.placesAt(f), first, this.walked, anew, this.run.accepted.space === "euclidean" ? this.run.extent() : 1);
    }
    this.paths.uniform("least", this.surface === "circle" ? 0 : theme.dark ? 0.5 : 0.6);
    this.paths.tinted(this.marks.tints);
  }

  /** Around clusters of three tokens or more, where shapes stand for balls, and around the selected token. */
  rings(points: Float32Array, { shapes, selected, theme }: Look): Ring[] {
    const { byLabel, counts } = this.shares;
    const rings: Ring[] = [];
    const labels = this.run.frames[this.frame]?.labels ?? new Uint16Array();
    const least = Math.max(3, Math.ceil(labels.length / 100));
    for (const [label, { sum, first }] of shapes ? sums(labels, points, () => 1) : []) {
      const count = counts[label] as number;
      if (count < least || rings.length >= MOST_RINGS) continue;
      const tint = [0, 1, 2].map((c) => this.marks.tints[3 * first + c] as number) as Rgb;
      rings.push({ point: sum.map((x) => x / count), radius: 0.055 + 0.17 * Math.sqrt(byLabel[label] as number), color: rgbToCss(tint), fill: rgbToCss(tint, 0.13) });
    }
    if (selected !== null && selected < labels.length) rings.push({ point: points.subarray(3 * selected, 3 * selected + 3), radius: 0.085, color: theme.ink });
    return rings;
  }

  /** The selected token: its trail so far, its attention row. */
  light(look: Look): void {
    const { selected, row } = look;
    const lit = selected !== null && row !== null && row.length === this.marks.glow.length;
    this.marks.uniform("lit", lit ? 1 : 0);
    if (lit) {
      let top = 1e-30;
      for (const a of row) top = Math.max(top, Math.abs(a));
      for (let i = 0; i < row.length; i++) this.marks.glow[i] = Math.sqrt(Math.abs(row[i] as number) / top);
    }
    this.marks.changed("glow");
    this.marks.color("paper", look.theme.panel);
    this.marks.color("rim", look.theme.dark ? "#dfe7f2" : "#1d2430");
    this.fillTrail(look);
    this.arcs.show(this.marks.before, look, lit ? row : null);
  }

  private fillTrail({ selected, theme }: Look): void {
    this.trail.clear();
    if (selected !== null) {
      const tint = this.tint.fill(theme.dark ? 0.95 : 0.12);
      const at = (k: number): Float32Array => this.placesAt(k).subarray(3 * selected, 3 * selected + 3);
      for (let k = 0; k < Math.min(this.frame, this.run.last); k++) this.trail.segment(at(k), at(k + 1), tint, 0.85);
    }
    this.trail.commit();
  }

  mix(u: number, pixels: number): void {
    this.marks.uniform("mixing", u);
    this.marks.uniform("pixels", pixels);
    this.paths.uniform("now", this.frame + u);
  }

  dispose(): void {
    for (const part of [this.paths, this.trail, this.arcs, this.marks]) part.dispose();
  }
}
