/** Hands on the stage: drag turns, wheel or pinch zooms, click picks, shift-drag moves a token. */
import { Quaternion, Vector3 } from "three";

export interface OrbitEvents {
  turned(): void;
  /** Whether a drag from here takes a token. */
  over(x: number, y: number): boolean;
  picked(x: number, y: number): void;
  grabbed(x: number, y: number): boolean;
  moved(x: number, y: number): void;
  dropped(): void;
}

const CLICK_SLOP = 5;
export const NEAREST = 1.7;
export const FARTHEST = 9;
export const USUAL = 3.5;

const BUILT = new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), -1.15);
const FRONT = new Vector3(0.1, 0.3, 0.95).normalize();

export class Orbit {
  readonly rotation = BUILT.clone();
  distance = USUAL;
  turnable = true;
  touched = false;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private travelled = 0;
  private grabbing = false;
  /** The press began on a token: a drag takes it. */
  private takes = false;
  private began = { x: 0, y: 0 };
  private spread = 0;

  constructor(
    private readonly surface: HTMLElement,
    private readonly events: OrbitEvents,
  ) {
    surface.addEventListener("pointerdown", this.down);
    surface.addEventListener("pointermove", this.move);
    surface.addEventListener("pointerup", this.up);
    surface.addEventListener("pointercancel", this.up);
    surface.addEventListener("wheel", this.wheel, { passive: false });
  }

  /** Turned and zoomed as four numbers and one, to be kept in a link. */
  get camera(): number[] {
    return [...this.rotation.toArray(), this.distance].map((x) => Number(x.toFixed(4)));
  }

  /** As in a link; null as it was built. */
  aim(camera: readonly number[] | null): void {
    this.touched = camera !== null;
    const [x, y, z, w, distance] = camera ?? [...BUILT.toArray(), USUAL];
    this.rotation.set(x as number, y as number, z as number, w as number).normalize();
    this.distance = Math.min(FARTHEST, Math.max(NEAREST, distance as number));
  }

  /** About its own axis, by nobody's hand. */
  drift(angle: number): void {
    this.rotation.multiply(new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), angle));
  }

  /** Turn a little so that a direction comes to the front, slightly raised. */
  lean(direction: Float32Array | null, share: number): void {
    if (direction === null || !(Math.hypot(...direction) > 1e-6)) return;
    const now = new Vector3().fromArray(direction).normalize().applyQuaternion(this.rotation);
    const whole = new Quaternion().setFromUnitVectors(now, FRONT);
    this.rotation.premultiply(new Quaternion().slerp(whole, Math.min(1, share))).normalize();
  }

  turn(dx: number, dy: number): void {
    this.touched = true;
    if (!this.turnable) return;
    const step = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), dx);
    const tilt = new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), dy);
    this.rotation.premultiply(step).premultiply(tilt).normalize();
    this.events.turned();
  }

  zoom(factor: number): void {
    this.touched = true;
    this.distance = Math.min(FARTHEST, Math.max(NEAREST, this.distance * factor));
    this.events.turned();
  }

  private readonly place = (event: PointerEvent): { x: number; y: number } => {
    const box = this.surface.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  private readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    this.touched = true;
    this.surface.setPointerCapture(event.pointerId);
    const at = this.place(event);
    this.pointers.set(event.pointerId, at);
    this.travelled = 0;
    this.spread = 0;
    this.began = at;
    this.grabbing = event.shiftKey && this.events.grabbed(at.x, at.y);
    this.takes = !this.grabbing && this.pointers.size === 1 && this.events.over(at.x, at.y);
  };

  private readonly move = (event: PointerEvent): void => {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined) return;
    const at = this.place(event);
    this.pointers.set(event.pointerId, at);
    this.travelled += Math.hypot(at.x - before.x, at.y - before.y);
    if (this.pointers.size === 2) return this.pinch();
    if (this.grabbing) return this.events.moved(at.x, at.y);
    if (this.travelled <= CLICK_SLOP) return;
    if (this.takes) {
      this.takes = false;
      this.grabbing = this.events.grabbed(this.began.x, this.began.y);
      if (this.grabbing) return this.events.moved(at.x, at.y);
    }
    const scale = (1.1 * this.distance) / this.surface.clientHeight;
    this.turn((at.x - before.x) * scale, (at.y - before.y) * scale);
  };

  private pinch(): void {
    const [a, b] = [...this.pointers.values()] as [{ x: number; y: number }, { x: number; y: number }];
    const spread = Math.hypot(a.x - b.x, a.y - b.y);
    if (this.spread > 0) this.zoom(this.spread / Math.max(1, spread));
    this.spread = spread;
  }

  private readonly up = (event: PointerEvent): void => {
    const at = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    if (this.grabbing) {
      this.grabbing = false;
      return this.events.dropped();
    }
    if (at !== undefined && event.type === "pointerup" && this.travelled <= CLICK_SLOP) this.events.picked(at.x, at.y);
  };

  private readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    this.zoom(Math.exp(Math.sign(event.deltaY) * Math.min(0.2, Math.abs(event.deltaY) / 500)));
  };
}
