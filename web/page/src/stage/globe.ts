/** What stands behind the tokens: the sphere, the circle, or the ball a projection falls into. */
import { Group } from "three";
import { freshPaper, type Paper } from "../canvas";
import { element } from "../dom";
import { hexToRgb, rgbToCss } from "../palette";
import type { Theme } from "../theme";
import { Segments } from "./lines";

export type Backdrop = "sphere" | "net" | "circle" | "ball" | "none";

/** How strong the shell is at a share of its radius: seen along it, there is more of it. */
const SHELL = [[0, 0.06], [0.6, 0.07], [0.8, 0.11], [0.9, 0.17], [0.95, 0.24], [0.98, 0.32], [1, 0]] as const;
export const shellColor = (theme: Theme): string => (theme.dark ? "#8fb3e0" : "#5b7699");

/** The shell looks the same from all sides: a gradient, painted once and not with every picture. */
export function paintShell({ context, width, height }: Paper, radius: number, theme: Theme): void {
  const shade = context.createRadialGradient(width / 2, height / 2, 0, width / 2, height / 2, radius);
  for (const [share, strength] of SHELL) shade.addColorStop(share, rgbToCss(hexToRgb(shellColor(theme)), strength));
  context.fillStyle = shade;
  context.fillRect(0, 0, width, height);
}

/** Segments of a ring; each costs as much as a token where the processor draws. */
const STEPS = 72;
const PARALLELS = [-60, -30, 0, 30, 60].map((degrees) => Math.sin((degrees * Math.PI) / 180));

type Ring = (u: number) => [number, number, number];

/** Six meridians and five parallels, or the unit circle, each a closed chain of segments. */
function rings(list: readonly Ring[], strength: number, steps = STEPS): Segments {
  const made = new Segments(list.length * steps, list.length > 1 ? "sphere" : "circle", 1, 0.28);
  const turn = (2 * Math.PI) / steps;
  for (const at of list) for (let k = 0; k < steps; k++) made.segment(at(turn * k), at(turn * (k + 1)), [0, 0, 0], strength);
  made.commit();
  return made;
}

const graticule = (): Ring[] => [
  ...Array.from({ length: 6 }, (_, m): Ring => {
    const [c, s] = [Math.cos((m * Math.PI) / 6), Math.sin((m * Math.PI) / 6)];
    return (u) => [c * Math.cos(u), s * Math.cos(u), Math.sin(u)];
  }),
  ...PARALLELS.map((z): Ring => {
    const r = Math.sqrt(1 - z * z);
    return (u) => [r * Math.cos(u), r * Math.sin(u), z];
  }),
];

export class Globe {
  readonly object = new Group();
  /** Behind the canvas. */
  readonly shell = element("canvas", { class: "pf-shell", "aria-hidden": "true" });
  private painted = "";
  private round = false;
  private readonly grid = rings(graticule(), 0.36);
  private readonly circle = rings([(u) => [Math.cos(u), Math.sin(u), 0]], 0.8, 160);

  constructor() {
    this.object.add(this.grid.object, this.circle.object);
  }

  show(kind: Backdrop): void {
    this.round = kind === "sphere" || kind === "ball";
    this.grid.object.visible = kind === "sphere" || kind === "net";
    this.circle.object.visible = kind === "circle";
  }

  theme(theme: Theme): void {
    const rgb = hexToRgb(shellColor(theme));
    for (const lines of [this.grid, this.circle]) {
      const { visible } = lines.object;
      lines.paint((_, channel) => rgb[channel] as number);
      lines.object.visible = visible;
    }
  }

  /** The shell for an eye that far away: painted anew only where it looks another. */
  stand(distance: number, fieldOfView: number, theme: Theme): void {
    const { clientWidth, clientHeight } = this.shell;
    const key = [this.round, distance.toFixed(3), clientWidth, clientHeight, theme.dark].join();
    if (key === this.painted) return;
    this.painted = key;
    const paper = freshPaper(this.shell);
    const scale = clientHeight / 2 / Math.tan((fieldOfView * Math.PI) / 360);
    if (paper !== null && this.round) paintShell(paper, scale / Math.sqrt(Math.max(1e-3, distance ** 2 - 1)), theme);
  }

  dispose(): void {
    for (const lines of [this.grid, this.circle]) lines.dispose();
  }
}
