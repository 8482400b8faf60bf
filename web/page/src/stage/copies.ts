/** The picture of a stage, elsewhere: in a box of another picture, or as a PNG. */

export interface Layers {
  /** The drawing, and what is written over it. */
  layers: HTMLCanvasElement[];
  side: HTMLCanvasElement | null;
  paper: string;
}

/** The middle of the stage into a box of another picture, and what stands beside it. */
export function paintInto({ layers, side }: Layers, context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  const shown = side === null ? width : width / 2;
  for (const layer of layers) {
    if (layer.width === 0 || layer.height === 0) continue;
    const scale = Math.min(layer.width / shown, layer.height / height); // as large as fits, the middle
    const [w, h] = [shown * scale, height * scale];
    context.drawImage(layer, (layer.width - w) / 2, (layer.height - h) / 2, w, h, x, y, shown, height);
  }
  if (side === null || side.width === 0) return;
  const tall = Math.min(height, (shown * side.height) / side.width);
  context.drawImage(side, x + shown, y + (height - tall) / 2, shown, tall);
}

/** The picture as it stands, as a PNG with the page's own background. */
export function asPicture({ layers, paper }: Layers): Promise<Blob | null> {
  const whole = document.createElement("canvas");
  whole.width = layers[0]?.width ?? 0;
  whole.height = layers[0]?.height ?? 0;
  const context = whole.getContext("2d");
  if (context === null) return Promise.resolve(null);
  context.fillStyle = paper;
  context.fillRect(0, 0, whole.width, whole.height);
  for (const layer of layers) context.drawImage(layer, 0, 0, whole.width, whole.height);
  return new Promise((resolve) => whole.toBlob(resolve, "image/png"));
}
