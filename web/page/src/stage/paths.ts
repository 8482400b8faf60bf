/** Where every token has been: its path up to the present moment, in as few strokes as show it. */
import type { Surface } from "./surface";
import { Segments } from "./lines";

/** Strokes in all: each costs as much as a token where the processor draws. */
const MOST_STROKES = 4096;
/** Beyond this many tokens paths are a fog that costs time. */
const MOST_TOKENS = 1024;
/** A token that jumps further between two frames leaves no stroke: it would not be its path. */
const LONGEST_STEP = 0.35;
const LONGEST_STROKE = 0.25;
/** By how much a stroke may miss the path, in radii of the sphere: about a pixel. */
const TOLERANCE = 0.004;
/** Frames of the longest stroke; what lies that far behind is drawn for good. */
const BLOCK = 16;

/** Three coordinates of every token in one frame. */
export type Places = (frame: number) => Float32Array;

/** Squared distance of token i in `r` from the point a share u of the way from `p` to `q`. */
function missed(p: Float32Array, q: Float32Array, r: Float32Array, i: number, u: number): number {
  let square = 0;
  for (let c = 3 * i; c < 3 * i + 3; c++) square += ((1 - u) * (p[c] as number) + u * (q[c] as number) - (r[c] as number)) ** 2;
  return square;
}

/** Pairs of frames between which token i goes straight at an even pace, within the tolerance; none where it rests or jumps. */
export function strokes(places: Places, i: number, a: number, b: number, tolerance = TOLERANCE, reach = 1): [number, number][] {
  const found: [number, number][] = [];
  let from = a;
  const fits = (to: number): boolean => {
    const [p, q] = [places(from), places(to)];
    if (to - from > BLOCK || missed(p, p, q, i, 0) > (LONGEST_STROKE * reach) ** 2) return false;
    for (let k = from + 1; k < to; k++) if (missed(p, q, places(k), i, (k - from) / (to - from)) > (tolerance * reach) ** 2) return false;
    return true;
  };
  for (let to = a + 1; to <= b; to++) {
    if (to < b && fits(to + 1)) continue;
    const p = places(from);
    const square = missed(p, p, places(to), i, 0);
    if (square > (1e-4 * reach) ** 2 && !(to === from + 1 && square > (LONGEST_STEP * reach) ** 2)) found.push([from, to]);
    from = to;
  }
  return found;
}

export class Paths extends Segments {
  private owners: number[] = [];
  /** Frames that are drawn for good, and how many strokes they took. */
  private settled = { frame: 0, count: 0 };

  constructor(private readonly tokens: number, private readonly on: Surface) {
    super(tokens > MOST_TOKENS ? 0 : Math.min(MOST_STROKES, 256 * tokens), on, 2);
  }

  /** Paths from frame `first` to frame `last`; what was drawn before stays, unless the picture is another. */
  grow(places: Places, first: number, last: number, anew: boolean, reach: number): void {
    if (this.capacity === 0) return;
    if (anew) this.settled = { frame: first, count: 0 };
    this.count = this.owners.length = this.settled.count;
    const tint = [0, 0, 0];
    const fade = (this.tokens > 256 ? 0.4 : 0.75) * (this.on === "none" ? 0.8 : 1);
    const before = this.count;
    const whole = Math.floor(last / BLOCK) * BLOCK;
    for (const [a, b] of [[this.settled.frame, whole], [Math.max(this.settled.frame, whole), last]] as const) {
      for (let i = 0; i < this.tokens && b > a; i++) {
        for (const [from, to] of strokes(places, i, a, b, TOLERANCE * Math.max(1, this.tokens / 128), reach)) {
          this.segment(places(from).subarray(3 * i, 3 * i + 3), places(to).subarray(3 * i, 3 * i + 3), tint, fade, from, to);
          if (this.owners.length < this.count) this.owners.push(i);
        }
      }
      if (b === whole && whole > this.settled.frame) this.settled = { frame: whole, count: this.count };
    }
    if (anew || this.count > before) this.commit();
  }

  /** In the colours of the tokens. */
  tinted(tints: Float32Array): void {
    this.paint((k, c) => tints[3 * (this.owners[k] as number) + c] as number);
  }
}
