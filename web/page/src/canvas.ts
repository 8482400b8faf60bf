/** A 2D canvas that follows its box and the pixel ratio of the screen. */

export interface Paper {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
}

/** Size the canvas to its box and clear it; drawing is then in CSS pixels. Null while it has no size. */
export function freshPaper(canvas: HTMLCanvasElement): Paper | null {
  const { clientWidth: width, clientHeight: height } = canvas;
  // Thousands of short strokes: the processor is quicker at them than a card that is asked for each.
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null || width === 0 || height === 0) return null;
  const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
