/** A hand on a token: which one it takes, and where it is put. */
import { type Group, type PerspectiveCamera, Vector3 } from "three";
import type { TokenMarks } from "./marks";
import { pickToken, pointOnCircle, pointOnSphere } from "./picking";
import type { StageEvents } from "./stage";

/** What a hand has to know of the picture under it. */
export interface Under {
  marks(): TokenMarks | null;
  d(): number;
  /** Whether a token is on the near side. */
  front(token: number): boolean;
  moved(): void;
}

export class Hand {
  private held: { token: number; point: number[] } | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly camera: PerspectiveCamera,
    private readonly turntable: Group,
    private readonly events: StageEvents,
    private readonly under: Under,
  ) {}

  pick(x: number, y: number): number | null {
    const marks = this.under.marks();
    return marks === null ? null : pickToken(marks.before, this.camera, this.turntable, this.canvas.clientWidth, this.canvas.clientHeight, x, y);
  }

  /** Tokens on the far side are not in the hand's way. */
  takes(x: number, y: number): boolean {
    const token = this.pick(x, y);
    return token !== null && this.events.over(token) && this.under.front(token);
  }

  grab(x: number, y: number): boolean {
    const token = this.pick(x, y);
    if (token === null || !this.events.grab(token)) return false;
    this.held = { token, point: [] };
    this.drag(x, y);
    return true;
  }

  drag(x: number, y: number): void {
    const marks = this.under.marks();
    if (this.held === null || marks === null) return;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.held.point =
      this.under.d() === 2
        ? pointOnCircle(this.camera, width, height, x, y)
        : pointOnSphere(this.camera, this.turntable, width, height, x, y, new Vector3()).toArray();
    for (let c = 0; c < 3; c++) marks.before[3 * this.held.token + c] = marks.after[3 * this.held.token + c] = this.held.point[c] ?? 0;
    marks.changed("position", "after");
    this.under.moved();
    this.events.move(this.held.token, this.held.point, false);
  }

  drop(): void {
    if (this.held !== null) this.events.move(this.held.token, this.held.point, true);
    this.held = null;
  }
}
