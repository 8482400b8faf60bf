/** The stage as a plain drawing: the first picture, before WebGL is awake, and the only one where there is none. */
import { Matrix4, type Camera, type Object3D } from "three";
import { freshPaper, type Paper } from "../canvas";
import { element } from "../dom";
import type { Theme } from "../theme";
import type { TokenMarks } from "./marks";
import type { Surface } from "./surface";

const CIRCLE_STEPS = 128;
const LEAST_RADIUS = 1.6;

export class Sketch {
  readonly canvas = element("canvas", { class: "pf-sketch", "aria-hidden": "true" });
  private readonly matrix = new Matrix4();

  /** Tokens as discs, the far side faint, on the circle where they live on it. */
  draw(marks: TokenMarks, u: number, surface: Surface, camera: Camera, turntable: Object3D, theme: Theme): void {
    const paper = freshPaper(this.canvas);
    if (paper === null) return;
    this.matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse).multiply(turntable.matrixWorld);
    const reach = camera.position.z;
    if (surface === "circle") this.ring(paper, theme);
    for (const front of surface === "sphere" ? [false, true] : [true]) this.tokens(paper, marks, u, surface, reach, camera, front, theme);
  }

  private ring({ context, width, height }: Paper, theme: Theme): void {
    context.strokeStyle = theme.dark ? "#8fb3e0" : "#5b7699";
    context.lineWidth = 1;
    context.beginPath();
    const e = this.matrix.elements;
    for (let k = 0; k <= CIRCLE_STEPS; k++) {
      const [x, y] = [Math.cos((2 * Math.PI * k) / CIRCLE_STEPS), Math.sin((2 * Math.PI * k) / CIRCLE_STEPS)];
      const w = (e[3] as number) * x + (e[7] as number) * y + (e[15] as number);
      const px = ((e[0] as number) * x + (e[4] as number) * y + (e[12] as number)) / w;
      const py = ((e[1] as number) * x + (e[5] as number) * y + (e[13] as number)) / w;
      context.lineTo(((px + 1) / 2) * width, ((1 - py) / 2) * height);
    }
    context.stroke();
  }

  private tokens({ context, width, height }: Paper, marks: TokenMarks, u: number, surface: Surface, reach: number, camera: Camera, front: boolean, theme: Theme): void {
    const e = this.matrix.elements;
    const pixels = (camera.projectionMatrix.elements[5] as number) * (height / 2);
    context.globalAlpha = front ? 1 : 0.3;
    context.strokeStyle = theme.dark ? "#dfe7f2" : "#1d2430";
    const { before, after, tints } = marks;
    for (let i = 0; i < marks.shapes.length; i++) {
      const [x, y, z] = [3 * i, 3 * i + 1, 3 * i + 2];
      const at = (c: number): number => (1 - u) * (before[c] as number) + u * (after[c] as number);
      const length = surface === "none" ? 1 : Math.hypot(at(x), at(y), at(z)) || 1;
      const along = (r: number): number => ((e[r] as number) * at(x) + (e[4 + r] as number) * at(y) + (e[8 + r] as number) * at(z)) / length + (e[12 + r] as number);
      const w = along(3);
      if (w < 0.1 || (surface === "sphere" && (reach - w) * reach > 1 !== front)) continue;
      const radius = Math.max(LEAST_RADIUS, (0.8 * marks.radius * pixels) / w);
      const [px, py] = [((along(0) / w + 1) / 2) * width, ((1 - along(1) / w) / 2) * height];
      context.fillStyle = `rgb(${255 * (tints[x] as number)} ${255 * (tints[y] as number)} ${255 * (tints[z] as number)})`;
      if (radius < 3) context.fillRect(px - radius, py - radius, 2 * radius, 2 * radius);
      else {
        context.beginPath();
        context.arc(px, py, radius, 0, 2 * Math.PI);
        context.fill();
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }

  /** WebGL has drawn: this picture is not needed any more. */
  close(): void {
    this.canvas.remove();
  }
}
