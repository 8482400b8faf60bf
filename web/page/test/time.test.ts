import { describe, expect, it } from "vitest";
import { axisTick, axisValues, countSplits, nearestFrame, niceTicks } from "../src/axis";
import { jump, plateauAt, plateausOf } from "../src/plateaus";
import { Meter, Player } from "../src/player";
import { stageNote } from "../src/notes";
import { axisTicks } from "../src/panels/phasemap";
import { madeRun } from "./fixture";

const plateaus = [
  { from: 3, to: 8, clusters: 5, lifetime: 2, log10_lifetime: 1 },
  { from: 12, to: 40, clusters: 3, lifetime: 90, log10_lifetime: 2 },
];

describe("plateaus", () => {
  it("jumps to the start of the next and of the one before", () => {
    expect(jump(plateaus, 0, 1)).toBe(3);
    expect(jump(plateaus, 3, 1)).toBe(12);
    expect(jump(plateaus, 12, 1)).toBeNull();
    expect(jump(plateaus, 20, -1)).toBe(12);
    expect(jump(plateaus, 12, -1)).toBe(3);
    expect(jump(plateaus, 3, -1)).toBeNull();
  });
  it("knows where a frame lies", () => {
    expect(plateauAt(plateaus, 8)?.clusters).toBe(5);
    expect(plateauAt(plateaus, 9)).toBeNull();
  });
});

describe("what a run says of itself", () => {
  const counts = [8, 8, 5, 5, 5, 5, 5, 2, 2, 2, 2, 2];
  const made = counts.map((clusters, k) => ({ points: Array.from({ length: 8 }, () => [1, 0, 0]), clusters, t: 10 ** k }));
  it("finds plateaus of fewer clusters than tokens, and how long they last", () => {
    const run = madeRun(made);
    expect(run.plateaus).toEqual([]); // not before it is over
    run.finish({ outcome: { kind: "reached", sentence: "" }, steps: 1, rejected: 0, norm_drift: 0, dtype: "float64", seconds: 0 });
    expect(run.plateaus.map(({ from, to, clusters }) => [from, to, clusters])).toEqual([[2, 6, 5], [7, 11, 2]]);
    expect(run.plateaus[0]!.lifetime).toBe(1e6 - 1e2);
    expect(run.plateaus[0]!.log10_lifetime).toBeCloseTo(4, 12);
    expect(run.monotone).toBe(true);
    run.frames[3]!.energy = 0.2;
    expect(run.monotone).toBe(false);
    run.frames[3]!.energy = NaN;
    expect(run.monotone).toBeNull();
  });
  it("counts a stretch of three frames, and none of many clusters", () => {
    const frames = [5, 5, 3, 3, 3, 3, 2, 1, 1, 1].map((clusters, t) => ({ n: 5, t, log10t: Math.log10(t), clusters }));
    expect(plateausOf(frames).map(({ from, to, clusters, lifetime }) => [from, to, clusters, lifetime])).toEqual([[2, 5, 3, 3], [7, 9, 1, 2]]);
    expect(plateausOf(frames.map((frame) => ({ ...frame, clusters: NaN })))).toEqual([]); // a density has none
    expect(plateausOf(Array.from({ length: 5 }, (_, t) => ({ n: 64, t, log10t: t, clusters: 40 })))).toEqual([]);
  });
  it("speaks of layers where the frames are layers", () => {
    const run = madeRun(made);
    expect(run.moment(2)).toBe("t = 100");
    run.accepted.layers = true;
    expect(run.moment(2)).toBe("layer 2");
  });
});

describe("axis", () => {
  const run = madeRun([0, 1, 10, 100].map((t) => ({ points: [[1, 0]], t, arc: t / 10 })));
  it("puts t = 0 left of the first positive time on the log axis", () => {
    expect(axisValues(run, "log")).toEqual([-1, 0, 1, 2]);
  });
  it("is time, arc length, or layers t / h", () => {
    expect(axisValues(run, "linear")).toEqual([0, 1, 10, 100]);
    expect(axisValues(run, "arc")).toEqual([0, 0.1, 1, 10]);
    expect(axisValues(run, "layer")).toEqual([0, 10, 100, 1000]);
  });
  it("finds the frame under the pointer", () => {
    expect(nearestFrame([0, 1, 10, 100], 7)).toBe(2);
    expect(nearestFrame([0, 1, 10, 100], -5)).toBe(0);
  });
  it("writes powers of ten", () => {
    expect([axisTick("log", 20), axisTick("log", -3), axisTick("log", 0), axisTick("log", 0.5)]).toEqual(["10²⁰", "10⁻³", "1", ""]);
    expect(niceTicks(-2, 20, true)).toEqual([0, 5, 10, 15, 20]);
    expect(niceTicks(0, 1, false)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(countSplits(30)).toEqual([1, 2, 5, 10, 20]);
  });
});

describe("player", () => {
  it("moves with time, waits for frames, stops at the end of a complete run", () => {
    const player = new Player();
    player.speed = 10;
    player.start(5, false);
    player.tick(0.25, 5, false);
    expect(player.position).toBeCloseTo(2.5);
    player.tick(10, 5, false);
    expect([player.position, player.playing]).toEqual([5, true]);
    player.tick(0.1, 5, true);
    expect(player.playing).toBe(false);
    player.start(5, true);
    expect(player.position).toBe(0);
  });
  it("rests on whole frames and stays inside the run", () => {
    const player = new Player();
    player.start(5, false);
    player.tick(0.13, 5, false);
    player.pause();
    expect(Number.isInteger(player.position)).toBe(true);
    player.seek(99, 5);
    expect(player.frame).toBe(5);
    player.seek(-1, 5);
    expect(player.frame).toBe(0);
  });
  it("measures frames per second, and forgets pauses", () => {
    const meter = new Meter();
    for (let k = 0; k < 30; k++) meter.mark(20 * k);
    expect(meter.rate).toBeCloseTo(50);
    meter.mark(10_000);
    expect(meter.rate).toBe(0);
  });
});

describe("what the page leaves out, it says", () => {
  it("names the tokens whose lines the rainbow draws", () => {
    expect(stageNote({ d: 2, n: 1200 }, "pca-end", 1)).toContain("every token");
    expect(stageNote({ d: 2, n: 1201 }, "pca-end", 1)).toContain("all 1201 tokens");
    expect(stageNote({ d: 2, n: 1201 }, "pca-end", 1)).toContain("every second token");
    expect(stageNote({ d: 2, n: 4096 }, "pca-end", 1)).toContain("every 4th token");
    expect(stageNote({ d: 3, n: 4096 }, "pca-end", 1)).toBe("");
  });
});

describe("ticks of a phase diagram", () => {
  const axis = (values: number[], scale: "linear" | "log") => ({ name: "x", label: "x", scale, values });
  it("are the values when they are few", () => {
    expect(axisTicks(axis([2, 4, 8], "log"), 10)).toEqual([2, 4, 8]);
  });
  it("are round and inside when they are many", () => {
    const linear = Array.from({ length: 35 }, (_, k) => 0.5 + 0.25 * k);
    expect(axisTicks(axis(linear, "linear"), 10)).toEqual([2, 4, 6, 8]);
    const wide = Array.from({ length: 19 }, (_, k) => 64 ** (k / 18));
    expect(axisTicks(axis(wide, "log"), 10)).toEqual([1, 2, 5, 10, 20, 50]);
    expect(axisTicks(axis(wide, "log"), 3)).toEqual([1, 10]);
  });
});
