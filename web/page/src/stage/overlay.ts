/** What is written over the stage: words beside tokens, rings around clusters and the selected token, arrows for what pulls it. */
import { freshPaper, FONT, type Paper } from "../canvas";
import { element } from "../dom";
import type { Theme } from "../theme";

/** Where a point of the drawn space is on the screen; `front` is false behind the sphere. */
export type Projector = (point: ArrayLike<number>) => { x: number; y: number; front: boolean };

export interface Written {
  /** A word per token; empty for none. */
  labels: readonly string[];
  /** Three coordinates per token. */
  points: Float32Array;
  /** Of the ball of a token, in pixels. */
  radius: (token: number) => number;
  rings: readonly Ring[];
  arrows: Arrows | null;
}

export interface Ring {
  point: ArrayLike<number>;
  /** Of the sphere's radius. */
  radius: number;
  color: string;
  fill?: string;
}

export interface Arrows {
  token: number;
  /** In drawn coordinates, strongest first. */
  parts: readonly Float64Array[];
  velocity: Float64Array;
}

const MOST_ARROWS = 6;
/** The longest arrow, in radii of the sphere. */
const LONGEST = 0.55;
const HEAD = 9;
/** Pixels between a ball and its word. */
const LIFT = 5;

export class Overlay {
  readonly canvas = element("canvas", { class: "pf-over", "aria-hidden": "true" });
  private empty = true;

  draw({ labels, points, radius, rings, arrows }: Written, unit: number, project: Projector, theme: Theme): void {
    const nothing = labels.length === 0 && rings.length === 0 && arrows === null;
    if (nothing && this.empty) return;
    this.empty = nothing;
    const paper = freshPaper(this.canvas);
    if (paper === null || nothing) return;
    for (const ring of rings) circle(paper, ring, project(ring.point), ring.radius * unit);
    if (arrows !== null) this.pulls(paper, arrows, points, project, theme);
    this.words(paper, labels, points, radius, project, theme);
  }

  /** Words that would stand on each other are moved down; what lies behind is faint. */
  private words({ context, width }: Paper, labels: readonly string[], points: Float32Array, radius: Written["radius"], project: Projector, theme: Theme): void {
    context.font = `600 14px ${FONT}`;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    const placed: { x: number; y: number; wide: number }[] = [];
    const order = labels.map((text, i) => ({ text, i, at: project(points.subarray(3 * i, 3 * i + 3)) })).sort((a, b) => a.at.y - b.at.y);
    for (const { text, i, at } of order) {
      const wide = context.measureText(text).width;
      const lift = LIFT + radius(i);
      const left = at.x + lift + wide > width ? at.x - lift - wide : at.x + lift;
      let y = at.y;
      for (const other of placed) if (Math.abs(other.y - y) < 17 && left < other.x + other.wide && other.x < left + wide) y = other.y + 17;
      placed.push({ x: left, y, wide });
      context.globalAlpha = at.front ? 1 : 0.45;
      context.lineWidth = 4;
      context.strokeStyle = theme.panel;
      context.strokeText(text, left, y);
      context.fillStyle = theme.ink;
      context.fillText(text, left, y);
    }
    context.globalAlpha = 1;
  }

  private pulls(paper: Paper, { token, parts, velocity }: Arrows, points: Float32Array, project: Projector, theme: Theme): void {
    const foot = points.subarray(3 * token, 3 * token + 3);
    const longest = parts.reduce((top, part) => Math.max(top, Math.hypot(...part)), 0);
    if (!(longest > 0)) return;
    const scale = LONGEST / longest;
    const tip = (vector: Float64Array, factor: number): ReturnType<Projector> => project([0, 1, 2].map((c) => (foot[c] as number) + factor * (vector[c] ?? 0)));
    const from = project(foot);
    for (const part of parts.slice(0, MOST_ARROWS).reverse()) arrow(paper, from, tip(part, scale), theme.dark ? "#ffd27a" : "#b04a00", 2);
    arrow(paper, from, tip(velocity, Math.min(scale, LONGEST / Math.max(1e-300, Math.hypot(...velocity)))), theme.ink, 4);
  }
}

function circle({ context }: Paper, { color, fill }: Ring, at: ReturnType<Projector>, radius: number): void {
  context.globalAlpha = at.front ? 1 : 0.35;
  context.beginPath();
  context.arc(at.x, at.y, radius, 0, 2 * Math.PI);
  context.fillStyle = fill ?? "transparent";
  context.fill();
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.stroke();
  context.globalAlpha = 1;
}

function arrow({ context }: Paper, from: { x: number; y: number }, to: { x: number; y: number }, color: string, wide: number): void {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  if (length < 3) return;
  const [ux, uy] = [dx / length, dy / length];
  const head = Math.min(HEAD + wide, 0.6 * length);
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = wide;
  context.lineCap = "round";
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x - head * ux, to.y - head * uy);
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x - head * ux + 0.45 * head * uy, to.y - head * uy - 0.45 * head * ux);
  context.lineTo(to.x - head * ux - 0.45 * head * uy, to.y - head * uy + 0.45 * head * ux);
  context.fill();
}
