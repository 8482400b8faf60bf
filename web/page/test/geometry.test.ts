import { describe, expect, it } from "vitest";
import { cosineShares } from "../src/stage/histogram";
import { symmetricEigen } from "../src/stage/eigen";
import { basisFor, keptShare, principalBasis, project } from "../src/stage/projection";
import { nudged, withMoved } from "../src/staging";
import { parseFrame } from "../src/frames";
import { strokes } from "../src/stage/paths";
import { frameBytes } from "./fixture";

describe("eigenvectors", () => {
  it("finds those of a matrix known in closed form", () => {
    const { values, vectors } = symmetricEigen([[2, 1, 0], [1, 2, 0], [0, 0, 5]]);
    expect(values.map((v) => Number(v.toFixed(12)))).toEqual([5, 3, 1]);
    expect(Math.abs(vectors[1]![0]!)).toBeCloseTo(Math.SQRT1_2, 12);
    expect(Math.abs(vectors[0]![2]!)).toBeCloseTo(1, 12);
  });
});

describe("projection", () => {
  const spread = [[0.9, 0, 0, 0.1, 0], [-0.9, 0, 0, 0.1, 0], [0, 0, 0.6, 0, 0], [0, 0, -0.6, 0, 0], [0, 0.1, 0, 0, 0.2]];
  const frame = parseFrame(frameBytes({ points: spread }));
  it("finds the two directions along which tokens spread", () => {
    const [u, v] = principalBasis(frame, null);
    expect(Math.abs(u[0]!)).toBeGreaterThan(0.99);
    expect(Math.abs(v[2]!)).toBeGreaterThan(0.98);
  });
  it("does not flip from frame to frame", () => {
    const first = principalBasis(frame, null);
    const flipped = first.map((row) => row.map((x) => -x)) as unknown as typeof first;
    const next = principalBasis(frame, flipped);
    expect(next[0][0]! * flipped[0][0]!).toBeGreaterThan(0);
  });
  it("keeps all of a unit vector in the plane, and half of one half outside", () => {
    const tilted = parseFrame(frameBytes({ points: [[Math.SQRT1_2, 0, 0, Math.SQRT1_2], [1, 0, 0, 0]] }));
    const out = new Float32Array(6);
    project(tilted, basisFor("pca-end", tilted, null, [0, 1, 2]), out);
    expect(keptShare(out, 2)).toBeCloseTo(0.75, 6);
    project(tilted, basisFor("axes", tilted, null, [3, 1, 2]), out);
    expect(out[0]).toBeCloseTo(Math.SQRT1_2, 6);
  });
  it("draws the circle in the plane", () => {
    const circle = parseFrame(frameBytes({ points: [[0.6, 0.8]] }));
    const out = new Float32Array(3);
    project(circle, basisFor("pca-end", circle, null, [0, 1, 2]), out);
    expect([...out].map((x) => Number(x.toFixed(6)))).toEqual([0.6, 0.8, 0]);
  });
});

describe("paths", () => {
  /** Two tokens: one turns around the pole at an even pace, one rests and then jumps. */
  const places = Array.from({ length: 60 }, (_, k) => Float32Array.of(Math.cos(0.02 * k), Math.sin(0.02 * k), 0, 0, 0, k < 40 ? 1 : -1));
  const at = (k: number): Float32Array => places[k] as Float32Array;
  it("take few strokes, and each is as near as the tolerance says", () => {
    const found = strokes(at, 0, 0, 59, 0.004);
    expect(found.length).toBeLessThan(10);
    expect([found[0]![0], found.at(-1)![1]]).toEqual([0, 59]);
    found.forEach(([a, b], m) => {
      if (m > 0) expect(a).toBe(found[m - 1]![1]);
      for (let k = a; k <= b; k++) {
        const u = (k - a) / (b - a);
        const miss = [0, 1, 2].map((c) => (1 - u) * at(a)[c]! + u * at(b)[c]! - at(k)[c]!);
        expect(Math.hypot(...miss)).toBeLessThan(0.004);
      }
    });
    expect(strokes(at, 0, 0, 59, 0.04).length).toBeLessThan(found.length);
  });
  it("leave out rest and jumps", () => {
    expect(strokes(at, 1, 0, 59)).toEqual([]);
  });
});

describe("cosines", () => {
  it("counts pairs exactly", () => {
    const frame = parseFrame(frameBytes({ points: [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [-1, 0, 0, 0]] }));
    const { shares, note } = cosineShares(frame, 4, new Float32Array(64));
    expect(note).toBe("all pairs");
    expect(shares[63]).toBeCloseTo(1 / 6, 6);
    expect(shares[32]).toBeCloseTo(3 / 6, 6);
    expect(shares[0]).toBeCloseTo(2 / 6, 6);
  });
  it("says when coordinates are missing", () => {
    const frame = parseFrame(frameBytes({ points: [[1, 0, 0, 0], [0, 1, 0, 0]] }));
    expect(cosineShares(frame, 40, new Float32Array(64)).note).toContain("4 of 40");
  });
});

describe("moving a start by hand", () => {
  it("stays on the sphere and replaces an earlier move", () => {
    for (const point of [[0, 0, 1], [1, 0, 0], [0.6, 0, -0.8]]) {
      const moved = nudged(point, 0.1, -0.2);
      expect(Math.hypot(...moved)).toBeCloseTo(1, 12);
    }
    expect(Math.hypot(...nudged([0, 1], 0.3, 0))).toBeCloseTo(1, 12);
    expect(withMoved([[1, [1, 0]], [2, [0, 1]]], 1, [0, 1])).toEqual([[2, [0, 1]], [1, [0, 1]]]);
  });
});
