/** Animated PNG from pictures: what does not change from one to the next is left transparent, so the file stays small. */

const SIGNATURE = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);
const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

function crc(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of bytes) c = (TABLE[(c ^ byte) & 255] as number) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

function numbers(...values: number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  values.forEach((value, k) => view.setUint32(4 * k, value));
  return bytes;
}

function joined(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function chunk(kind: string, data: Uint8Array): Uint8Array {
  const body = joined(new TextEncoder().encode(kind), data);
  return joined(numbers(data.length), body, numbers(crc(body)));
}

/** The chunks of a PNG: its kinds and their data. */
export function chunksOf(png: Uint8Array): { kind: string; data: Uint8Array }[] {
  const view = new DataView(png.buffer, png.byteOffset, png.length);
  const found = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const size = view.getUint32(at);
    found.push({ kind: new TextDecoder().decode(png.subarray(at + 4, at + 8)), data: png.subarray(at + 8, at + 8 + size) });
    at += 12 + size;
  }
  return found;
}

async function encoded(picture: ImageData): Promise<Uint8Array> {
  const canvas = document.createElement("canvas");
  canvas.width = picture.width;
  canvas.height = picture.height;
  canvas.getContext("2d")?.putImageData(picture, 0, 0);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob === null) throw new Error("this browser makes no PNG");
  return new Uint8Array(await blob.arrayBuffer());
}

/** Colours are kept in steps, and a change that no eye sees in motion is not one. */
const STEP = 4;
const UNSEEN = 6;

/** The picture with what still shows made transparent; `shown` is what then stands on the screen. */
function changes(picture: ImageData, shown: Uint8ClampedArray | null): { picture: ImageData; shown: Uint8ClampedArray } {
  const drawn = picture.data.map((value, k) => (k % 4 === 3 ? 255 : STEP * Math.round(value / STEP)));
  if (shown === null) return { picture: new ImageData(drawn, picture.width, picture.height), shown: drawn.slice() };
  const now = shown.slice();
  for (let k = 0; k < drawn.length; k += 4) {
    let apart = 0;
    for (let c = 0; c < 3; c++) apart = Math.max(apart, Math.abs((drawn[k + c] as number) - (shown[k + c] as number)));
    if (apart <= UNSEEN) drawn.fill(0, k, k + 4);
    else now.set(drawn.subarray(k, k + 4), k);
  }
  return { picture: new ImageData(drawn, picture.width, picture.height), shown: now };
}

export async function apng(pictures: AsyncIterable<ImageData>, milliseconds: number): Promise<Blob> {
  const parts: Uint8Array[] = [];
  let shown: Uint8ClampedArray | null = null;
  let header: Uint8Array | null = null;
  let order = 0;
  let count = 0;
  for await (const picture of pictures) {
    const changed = changes(picture, shown);
    shown = changed.shown;
    const chunks = chunksOf(await encoded(changed.picture));
    header ??= chunks[0]?.data as Uint8Array;
    const delay = Uint8Array.of(Math.round(milliseconds) >> 8, Math.round(milliseconds) & 255, 1000 >> 8, 1000 & 255);
    parts.push(chunk("fcTL", joined(numbers(order++, picture.width, picture.height, 0, 0), delay, Uint8Array.of(0, count === 0 ? 0 : 1))));
    for (const { kind, data } of chunks) {
      if (kind !== "IDAT") continue;
      parts.push(count === 0 ? chunk("IDAT", data) : chunk("fdAT", joined(numbers(order++), data)));
    }
    count += 1;
  }
  const start = [SIGNATURE, chunk("IHDR", header ?? new Uint8Array(13)), chunk("acTL", numbers(count, 0))];
  return new Blob([...start, ...parts, chunk("IEND", new Uint8Array(0))] as BlobPart[], { type: "image/png" });
}
