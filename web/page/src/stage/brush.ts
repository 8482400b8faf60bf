/** The WebGL side of the stage: wakes up after the first picture, and draws coarser in motion where no graphics card helps. */
import { WebGLRenderer, type Camera, type Scene } from "three";

/** Pixels per CSS pixel: two smooth every line; where the processor draws, fewer, and the fewest in motion. */
const FINE = 2;
const RESTING = 2;
const MOVING = 1;
const REST = 300;

/** Whether the processor stands in for a graphics card. */
function drawnBySoftware(context: WebGL2RenderingContext): boolean {
  const names = context.getExtension("WEBGL_debug_renderer_info");
  const name = context.getParameter(names === null ? context.RENDERER : names.UNMASKED_RENDERER_WEBGL) as unknown;
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(String(name));
}

export class Brush {
  /** No picture yet, waiting for the first, drawing, or there is no WebGL here. */
  phase: "asleep" | "waking" | "awake" | "missing" = "asleep";
  private renderer: WebGLRenderer | null = null;
  private software = false;
  private fence: WebGLSync | null = null;
  private fine = false;
  private drawnAt = 0;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  open(): void {
    if (this.phase !== "asleep") return;
    try {
      const context = this.canvas.getContext("webgl2", { alpha: true, antialias: false, powerPreference: "high-performance" });
      if (context === null) throw new Error("no WebGL 2");
      this.software = drawnBySoftware(context);
      this.renderer = new WebGLRenderer({ canvas: this.canvas, context });
      this.renderer.setClearColor(0x000000, 0);
      this.phase = "waking";
    } catch {
      this.phase = "missing";
    }
  }

  private get ratio(): number {
    const screen = globalThis.devicePixelRatio || 1;
    if (!this.software) return FINE;
    return Math.min(FINE, screen * (this.fine ? RESTING : MOVING));
  }

  /** The size of the drawing in pixels; true when it changed, and with it the picture was lost. */
  resize(): boolean {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (this.renderer === null || width === 0 || height === 0) return false;
    const { ratio } = this;
    if (this.canvas.width === Math.floor(width * ratio) && this.canvas.height === Math.floor(height * ratio)) return false;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    return true;
  }

  /** A coarse picture has stood still for a while: it should be drawn again, finely. */
  settles(now: number): boolean {
    return this.software && this.phase === "awake" && !this.fine && now - this.drawnAt > REST;
  }

  /** `prepare` is called when the size in pixels is known. */
  draw(world: Scene, camera: Camera, fine: boolean, prepare: () => void): void {
    if (this.renderer === null || this.fence !== null) return;
    this.fine = fine;
    this.drawnAt = performance.now();
    this.resize();
    prepare();
    this.renderer.render(world, camera);
    if (this.phase !== "waking") return;
    const context = this.renderer.getContext() as WebGL2RenderingContext;
    this.fence = context.fenceSync(context.SYNC_GPU_COMMANDS_COMPLETE, 0);
    context.flush();
  }

  /** True once: the first picture has really been drawn, shaders compiled and all. */
  wakes(): boolean {
    if (this.phase !== "waking" || this.fence === null || this.renderer === null) return false;
    const context = this.renderer.getContext() as WebGL2RenderingContext;
    const passed = context.getSyncParameter(this.fence, context.SYNC_STATUS) === context.SIGNALED;
    if (!passed && !context.isContextLost()) return false;
    context.deleteSync(this.fence);
    this.fence = null;
    this.phase = "awake";
    return true;
  }

  dispose(): void {
    this.renderer?.dispose();
    this.renderer?.forceContextLoss();
    this.renderer = null;
    this.phase = "missing";
  }
}
