import { describe, expect, it } from "vitest";
import { parseFrame, unpackFrames } from "../src/frames";
import { frameBytes, madeRun } from "./fixture";

const points = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

describe("frames", () => {
  it("reads every number, point and label", () => {
    const frame = parseFrame(frameBytes({ index: 4, points, labels: [5, 6, 5], t: 100, flags: 1 }));
    expect(frame).toMatchObject({ id: 7, index: 4, n: 3, dshow: 3, last: true, t: 100, log10t: 2, energy: 0.25, clusters: 2, largest: 0.5, cosine: -0.125, arc: 3 });
    expect([...frame.points]).toEqual(points.flat());
    expect([...frame.labels]).toEqual([5, 6, 5]);
    expect(frame.mass).toBeNull();
  });
  it("reads masses behind an odd number of labels, which are not aligned", () => {
    const frame = parseFrame(frameBytes({ points, mass: [0.5, 0.25, 0.25] }));
    expect([...frame.mass!]).toEqual([0.5, 0.25, 0.25]);
  });
  it("does not take the histogram of 64 tokens for their masses", () => {
    const frame = parseFrame(frameBytes({ points: Array.from({ length: 64 }, () => [1, 0, 0]), histogram: new Array<number>(64).fill(1 / 64) }));
    expect(frame.mass).toBeNull();
    expect(frame.histogram).toHaveLength(64);
  });
  it("reads a histogram after the masses", () => {
    const histogram = Array.from({ length: 64 }, (_, b) => b / 64);
    const frame = parseFrame(frameBytes({ points, mass: [1, 0, 0], histogram }));
    expect(frame.histogram![32]).toBeCloseTo(0.5, 6);
  });
  it("refuses a torn frame and a stranger", () => {
    const whole = frameBytes({ points });
    expect(() => parseFrame(whole.slice(0, 40))).toThrow("header");
    expect(() => parseFrame(whole.slice(0, whole.byteLength - 1))).toThrow("cut short");
    expect(() => parseFrame(new ArrayBuffer(100))).toThrow("PF01");
  });
  it("unpacks the notebook's bytes, also from the middle of a buffer", () => {
    const one = new Uint8Array(frameBytes({ points }));
    const packed = new Uint8Array(3 + 2 * (4 + one.length));
    for (const k of [0, 1]) {
      const at = 3 + k * (4 + one.length);
      new DataView(packed.buffer).setUint32(at, one.length, true);
      packed.set(one, at + 4);
    }
    const buffers = unpackFrames(new DataView(packed.buffer, 3));
    expect(buffers.map((b) => parseFrame(b).n)).toEqual([3, 3]);
    expect(() => unpackFrames(new DataView(packed.buffer, 3, 20))).toThrow("cut short");
  });
});

describe("run", () => {
  it("takes frames in order only", () => {
    const run = madeRun([{ points }, { points }]);
    expect(run.count).toBe(2);
    expect(run.add(parseFrame(frameBytes({ index: 5, points })))).toBe(false);
    expect(run.numbers(1)).toEqual({ t: 1, energy: 0.25, clusters: 2, largest: 0.5, cosine: -0.125 });
    expect(run.numbers(9)).toBeNull();
  });
});
