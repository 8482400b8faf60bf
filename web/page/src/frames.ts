/** One frame of a run as the server sends it: numbers, points, labels, masses. */

export const HEADER_BYTES = 80;
export const HISTOGRAM_BINS = 64;
const MAGIC = 0x31304650; // "PF01" read as a little-endian u32
const LAST = 1;
const HAS_MASS = 2;
const HAS_HISTOGRAM = 4;

export interface Frame {
  id: number;
  index: number;
  n: number;
  dshow: number;
  last: boolean;
  t: number;
  log10t: number;
  energy: number;
  clusters: number;
  largest: number;
  cosine: number;
  arc: number;
  points: Float32Array;
  labels: Uint16Array;
  mass: Float32Array | null;
  histogram: Float32Array | null;
}

function view<T>(Type: { new (b: ArrayBuffer, o: number, n: number): T; BYTES_PER_ELEMENT: number },
  buffer: ArrayBuffer, offset: number, count: number): T {
  const size = Type.BYTES_PER_ELEMENT;
  if (offset % size === 0) return new Type(buffer, offset, count);
  return new Type(buffer.slice(offset, offset + count * size), 0, count);
}

/** Read one binary message; throws with the reason when it is not a whole frame. */
export function parseFrame(buffer: ArrayBuffer): Frame {
  if (buffer.byteLength < HEADER_BYTES) throw new Error(`frame of ${buffer.byteLength} bytes is shorter than its header`);
  const head = new DataView(buffer);
  if (head.getUint32(0, true) !== MAGIC) throw new Error("not a frame: it does not start with PF01");
  const n = head.getUint32(12, true);
  const dshow = head.getUint32(16, true);
  const flags = head.getUint32(20, true);
  const number = (i: number): number => head.getFloat64(24 + 8 * i, true);
  const labelsAt = HEADER_BYTES + 4 * n * dshow;
  const massAt = labelsAt + 2 * n;
  const left = buffer.byteLength - massAt;
  if (left < 0) throw new Error(`frame is cut short: ${-left} bytes are missing for n = ${n}, ${dshow} coordinates`);
  const hasMass = (flags & HAS_MASS) !== 0;
  const histogramAt = massAt + (hasMass ? 4 * n : 0);
  const hasHistogram = (flags & HAS_HISTOGRAM) !== 0;
  const end = histogramAt + (hasHistogram ? 4 * HISTOGRAM_BINS : 0);
  if (buffer.byteLength < end) throw new Error(`frame is cut short: ${end - buffer.byteLength} bytes are missing`);
  return {
    id: head.getUint32(4, true),
    index: head.getUint32(8, true),
    n,
    dshow,
    last: (flags & LAST) !== 0,
    t: number(0),
    log10t: number(1),
    energy: number(2),
    clusters: number(3),
    largest: number(4),
    cosine: number(5),
    arc: number(6),
    points: view(Float32Array, buffer, HEADER_BYTES, n * dshow),
    labels: view(Uint16Array, buffer, labelsAt, n),
    mass: hasMass ? view(Float32Array, buffer, massAt, n) : null,
    histogram: hasHistogram ? view(Float32Array, buffer, histogramAt, HISTOGRAM_BINS) : null,
  };
}

/** Frames packed one after another, each behind its length (the notebook's trait). */
export function unpackFrames(bytes: DataView): ArrayBuffer[] {
  const out: ArrayBuffer[] = [];
  let at = 0;
  while (at + 4 <= bytes.byteLength) {
    const length = bytes.getUint32(at, true);
    const start = bytes.byteOffset + at + 4;
    if (at + 4 + length > bytes.byteLength) throw new Error("the frames are cut short");
    out.push(bytes.buffer.slice(start, start + length) as ArrayBuffer);
    at += 4 + length;
  }
  return out;
}
