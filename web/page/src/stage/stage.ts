/** The stage: one run, drawn at one moment, turned and touched. Nothing here knows the page around it. */
import { Group, PerspectiveCamera, Scene, Vector3 } from "three";
import { element } from "../dom";
import type { Run } from "../run";
import type { Axis } from "../state";
import { LIGHT, type Theme } from "../theme";
import { Brush } from "./brush";
import type { Layers } from "./copies";
import { Globe } from "./globe";
import { CosineHistogram } from "./histogram";
import { Hand } from "./hand";
import { Orbit } from "./orbit";
import { Rainbow } from "./rainbow";
import { Overlay, type Arrows } from "./overlay";
import { RunScene, type Look } from "./scene";
import { Sketch } from "./sketch";

export interface StageEvents {
  select(token: number | null): void;
  /** Whether the token under the pointer may be taken by a drag alone. */
  over(token: number): boolean;
  /** A drag takes this token; answer whether it may move. */
  grab(token: number): boolean;
  move(token: number, point: number[], final: boolean): void;
  /** A hand turned or zoomed. */
  turned?(camera: number[]): void;
}

const FIELD_OF_VIEW = 36;
/** Width over height below which the picture steps back, so that rings at the rim are not cut. */
const ROOM = 1.08;
const NO_WEBGL = "This browser does not offer WebGL 2: the stage is drawn plainly, without trails and rings.";

export class Stage {
  readonly canvas = element("canvas", { class: "pf-canvas" });
  readonly side = element("canvas", { class: "pf-side", role: "img" });
  readonly orbit: Orbit;
  readonly look: Look & { axis: Axis } = {
    color: "cluster", projection: "pca-end", places: [0, 1, 2], selected: null, row: null, moved: false, theme: LIGHT, axis: "linear", veiled: false, shapes: false,
  };
  /** A word for each token. */
  labels: readonly string[] = [];
  arrows: Arrows | null = null;
  still = false;
  private readonly brush: Brush;
  private readonly sketch = new Sketch();
  private readonly overlay = new Overlay();
  private readonly world = new Scene();
  private readonly turntable = new Group();
  private readonly camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.1, 30);
  private readonly globe = new Globe();
  private readonly rainbow: Rainbow;
  private readonly histogram: CosineHistogram;
  private drawing: RunScene | null = null;
  /** Another run in the same picture, its tokens hollow. */
  private laid: { scene: RunScene; run: Run; position: number } | null = null;
  private run: Run | null = null;
  private position = 0;
  /** Soft lights have a grain that hides rings; a film does without, for its size. */
  grain = 1;
  /** By how much a projection is drawn larger than it is. */
  enlarged = 1;
  private dirty = true;
  private stale = true;
  private sideStale = true;
  private sided = false;
  private readonly hand: Hand;
  private readonly resizer: ResizeObserver;

  constructor(readonly host: HTMLElement, private readonly events: StageEvents) {
    host.classList.add("pf-stage");
    host.append(this.globe.shell, this.canvas, this.sketch.canvas, this.overlay.canvas, this.side);
    this.brush = new Brush(this.canvas);
    this.turntable.add(this.globe.object);
    this.world.add(this.turntable);
    this.rainbow = new Rainbow(this.side);
    this.histogram = new CosineHistogram(this.side);
    this.hand = new Hand(this.canvas, this.camera, this.turntable, this.events, {
      marks: () => this.drawing?.marks ?? null,
      d: () => this.run?.accepted.d ?? 3,
      front: (token) => this.place(token)?.front ?? false,
      moved: () => (this.dirty = true),
    });
    this.orbit = new Orbit(this.canvas, {
      turned: () => {
        this.dirty = true;
        this.events.turned?.(this.orbit.camera);
      },
      picked: (x, y) => this.events.select(this.hand.pick(x, y)),
      over: (x, y) => this.hand.takes(x, y),
      grabbed: (x, y) => this.hand.grab(x, y),
      moved: (x, y) => this.hand.drag(x, y),
      dropped: () => this.hand.drop(),
    });
    this.resizer = new ResizeObserver(() => this.resize());
    this.resizer.observe(this.canvas);
    this.resizer.observe(this.side);
    this.resize();
  }

  /** Show another run; the drawing of the one before is given back. */
  setRun(run: Run): void {
    this.drawing?.dispose();
    if (this.drawing !== null) this.turntable.remove(this.drawing.object);
    this.run = run;
    this.drawing = new RunScene(run);
    this.turntable.add(this.drawing.object);
    const d = run.accepted.d;
    const flat = run.accepted.space === "euclidean";
    this.globe.show(flat ? (run.accepted.known ? "net" : "none") : d === 2 ? "circle" : d === 3 ? "sphere" : "ball");
    this.orbit.turnable = d > 2;
    this.sided = flat ? d === 1 : d !== 3;
    this.host.dataset["d"] = !this.sided ? "3" : d <= 2 ? "2" : "many";
    this.side.setAttribute("aria-label", d === 1 ? "Place of every token against time" : d === 2 ? "Angle of every token against time" : "Histogram of pairwise cosines");
    this.position = 0;
    this.resize();
    this.refresh();
  }

  /** Lay another run over this one; null for none. */
  lay(run: Run | null): void {
    if (this.laid !== null) this.turntable.remove(this.laid.scene.object);
    this.laid?.scene.dispose();
    this.laid = run === null ? null : { run, scene: new RunScene(run, true), position: 0 };
    if (this.laid !== null) this.turntable.add(this.laid.scene.object);
    this.refresh();
  }

  /** Whether a run lives where this one does. */
  fits(run: Run): boolean {
    const [mine, theirs] = [this.run?.accepted, run.accepted];
    return mine !== undefined && mine.d === theirs.d && mine.d <= 3 && (mine.space === "euclidean") === (theirs.space === "euclidean");
  }

  showLaid(position: number): void {
    if (this.laid === null || this.laid.position === position) return;
    this.laid.position = position;
    this.dirty = true;
  }

  /** Colours, selection, projection or data changed: fill the buffers again. */
  refresh(): void {
    this.stale = true;
    this.sideStale = true;
    this.dirty = true;
  }

  /** Only the selection or its row changed. */
  relight(): void {
    this.drawing?.light(this.look);
    this.sideStale ||= (this.run?.accepted.d ?? 3) <= 2;
    this.dirty = true;
  }

  show(position: number): void {
    const next = this.still ? Math.round(position) : position;
    if (next === this.position && !this.stale) return;
    this.position = next;
    this.dirty = true;
  }

  /** What the projection keeps of the squared length, when there is one. */
  get kept(): number {
    return this.drawing?.kept ?? 1;
  }

  get shares(): { byLabel: Float32Array; counts: Uint32Array } | null {
    return this.drawing?.shares ?? null;
  }

  /** Of the clusters that the colours name: those at the end of a finished run. */
  get endShares(): { byLabel: Float32Array; counts: Uint32Array } | null {
    return this.drawing?.endShares() ?? null;
  }

  setTheme(theme: Theme): void {
    this.look.theme = theme;
    this.globe.theme(theme);
    this.refresh();
  }

  /** While a run plays the sphere turns slowly, until a hand takes it. */
  drift(seconds: number): void {
    if (this.still || this.orbit.touched || this.run === null || this.run.accepted.d <= 2) return;
    this.orbit.drift(0.07 * seconds);
    if (this.drawing?.surface === "sphere") this.orbit.lean(this.drawing.heaviest(), 0.35 * seconds);
    this.dirty = true;
  }

  /** Draw if anything changed; true when it drew. */
  render(): boolean {
    if (this.brush.wakes()) {
      this.sketch.close();
      this.host.dataset["drawn"] = "webgl";
      this.dirty = true; // the page may have moved or resized the canvas since that picture
    }
    if (!this.dirty || this.run === null || this.drawing === null || this.run.count === 0) return false;
    this.dirty = false;
    const k = Math.min(this.run.last, Math.max(0, Math.floor(this.position)));
    const u = Math.min(1, Math.max(0, this.position - k));
    if (this.stale || k !== this.drawing.frame) this.drawing.set(k, this.look);
    if (this.laid !== null) {
      const l = Math.floor(this.laid.position);
      if (this.stale || l !== this.laid.scene.frame) this.laid.scene.set(l, { ...this.look, selected: null, row: null });
    }
    if (this.stale) this.enlarged = this.drawing.enlarged;
    const [here, next] = [this.run.extent(k), this.run.extent(k + 1)];
    this.turntable.scale.setScalar(this.run.accepted.space === "euclidean" ? 1 / (here + u * (next - here)) : this.enlarged);
    if (this.run.accepted.d > 3 && this.sided) this.globe.show(this.enlarged > 1 ? "none" : "ball");
    if (this.run.accepted.d <= 2) this.turntable.quaternion.identity();
    else this.turntable.quaternion.copy(this.orbit.rotation);
    this.camera.position.set(0, 0, this.orbit.distance * this.fit() * (this.run.accepted.d <= 2 ? 1.06 : 1));
    this.globe.stand(this.camera.position.z, FIELD_OF_VIEW, this.look.theme);
    this.paint(u);
    this.write(u);
    this.renderSide(k);
    this.stale = false;
    return true;
  }

  /** With WebGL when it is awake; until then, or for ever, as a plain drawing. */
  private paint(u: number): void {
    const drawing = this.drawing as RunScene;
    const pixels = (): number => this.canvas.height / (2 * Math.tan((FIELD_OF_VIEW * Math.PI) / 360));
    this.world.updateMatrixWorld();
    this.camera.updateMatrixWorld();
    if (this.brush.phase !== "awake") {
      this.sketch.draw(drawing.marks, u, drawing.surface, this.camera, this.turntable, this.look.theme);
    }
    if (this.brush.phase === "asleep") requestAnimationFrame(() => setTimeout(() => this.wake()));
    drawing.marks.uniform("grain", this.grain);
    this.brush.draw(this.world, this.camera, () => {
      drawing.mix(u, pixels());
      this.laid?.scene.mix(this.laid.position % 1, pixels());
    });
  }

  private write(u: number): void {
    const { marks, surface } = this.drawing as RunScene;
    const { selected, shapes, theme } = this.look;
    const written = this.labels.length > 0 || this.arrows !== null || selected !== null || shapes;
    const points = written ? marks.at(u, surface !== "none") : marks.before;
    const labels = this.labels.length === marks.glow.length ? this.labels : [];
    const pixels = this.canvas.clientHeight / (2 * Math.tan((FIELD_OF_VIEW * Math.PI) / 360)) / this.camera.position.z;
    const radius = (i: number): number => marks.radius * (marks.sizes[i] as number) * pixels;
    const rings = (this.drawing as RunScene).rings(points, this.look);
    this.overlay.draw({ labels, points, radius, rings, arrows: this.arrows }, pixels, (point) => this.seen(point), theme);
  }

  /** Where a point of the drawn space is on the canvas, and whether the sphere hides it. */
  private seen(point: ArrayLike<number>): { x: number; y: number; front: boolean } {
    const p = new Vector3(point[0], point[1], point[2]).multiplyScalar(this.turntable.scale.x).applyQuaternion(this.turntable.quaternion);
    const front = this.drawing?.surface !== "sphere" || p.z * this.camera.position.z > 0.98;
    p.project(this.camera);
    return { x: ((p.x + 1) / 2) * this.canvas.clientWidth, y: ((1 - p.y) / 2) * this.canvas.clientHeight, front };
  }

  private wake(): void {
    this.brush.open();
    if (this.brush.phase === "missing" && this.host.dataset["drawn"] !== "plain") {
      this.host.dataset["drawn"] = "plain";
      this.host.append(element("p", { class: "pf-missing" }, NO_WEBGL));
    }
    this.dirty = true;
  }

  private fit(): number {
    return Math.min(2.4, Math.max(1, ROOM / this.camera.aspect));
  }

  private renderSide(k: number): void {
    const run = this.run as Run;
    const d = run.accepted.d;
    const frame = run.frames[k];
    if (!this.sided || frame === undefined) return;
    if (d <= 2) {
      if (this.sideStale) this.rainbow.paint(run, this.look);
      this.rainbow.head(this.position, this.look.theme, this.look.veiled);
    } else this.histogram.paint(frame, d, this.look.theme);
    this.sideStale = false;
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.sideStale = true;
    this.dirty = true;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (this.brush.resize()) this.render(); // a resized canvas is empty: draw before the browser shows it
  }

  /** Where a token is drawn, in CSS pixels of the canvas. */
  place(token: number): { x: number; y: number; front: boolean } | null {
    if (this.drawing === null) return null;
    return this.seen(this.drawing.marks.before.subarray(3 * token, 3 * token + 3));
  }

  /** Turn and zoom as a link says. */
  aim(camera: readonly number[] | null): void {
    this.orbit.aim(camera);
    this.dirty = true;
  }

  /** Turned and zoomed as another stage. */
  follow(other: Stage): void {
    if (this.orbit.rotation.equals(other.orbit.rotation) && this.orbit.distance === other.orbit.distance) return;
    this.orbit.rotation.copy(other.orbit.rotation);
    this.orbit.distance = other.orbit.distance;
    this.dirty = true;
  }

  /** What is on the screen now: layers to be laid over each other, and what stands beside them. */
  layers(): Layers {
    this.dirty = true;
    this.render();
    const drawn = this.brush.phase === "awake" ? this.canvas : this.sketch.canvas;
    return { layers: [this.globe.shell, drawn, this.overlay.canvas], side: this.sided ? this.side : null, paper: this.look.theme.panel };
  }

  dispose(): void {
    this.resizer.disconnect();
    this.drawing?.dispose();
    this.laid?.scene.dispose();
    this.globe.dispose();
    this.brush.dispose();
    this.host.replaceChildren();
  }
}
