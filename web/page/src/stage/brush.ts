/** The WebGL side of the stage: it wakes up after the first picture. Shaders smooth every edge, so nothing is sampled twice. */
import { WebGLRenderer, type Camera, type Scene } from "three";

export class Brush {
  /** No picture yet, waiting for the first, drawing, or there is no WebGL here. */
  phase: "asleep" | "waking" | "awake" | "missing" = "asleep";
  private renderer: WebGLRenderer | null = null;
  private fence: WebGLSync | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  open(): void {
    if (this.phase !== "asleep") return;
    try {
      const context = this.canvas.getContext("webgl2", { alpha: true, antialias: false, powerPreference: "high-performance" });
      if (context === null) throw new Error("no WebGL 2");
      this.renderer = new WebGLRenderer({ canvas: this.canvas, context });
      this.renderer.setClearColor(0x000000, 0);
      this.phase = "waking";
    } catch {
      this.phase = "missing";
    }
  }

  /** The size of the drawing in pixels; true when it changed, and with it the picture was lost. */
  resize(): boolean {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (this.renderer === null || width === 0 || height === 0) return false;
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    if (this.canvas.width === Math.floor(width * ratio) && this.canvas.height === Math.floor(height * ratio)) return false;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    return true;
  }

  /** `prepare` is called when the size in pixels is known. */
  draw(world: Scene, camera: Camera, prepare: () => void): void {
    if (this.renderer === null || this.fence !== null) return;
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
