import { describe, expect, it } from "vitest";
import { clusterColor, clusterShape, contrast, hexToRgb, luminance, ramp, wheel } from "../src/palette";
import { colorSlots } from "../src/slots";
import { clusterShares, colorTokens, newShares } from "../src/stage/coloring";
import { DARK, LIGHT } from "../src/theme";
import { madeRun } from "./fixture";

describe("colours", () => {
  it("gives 64 clusters 64 different marks", () => {
    const marks = new Set(Array.from({ length: 64 }, (_, l) => `${clusterColor(l).join()}/${clusterShape(l)}`));
    expect(marks.size).toBe(64);
  });
  it("has a ramp whose lightness only grows", () => {
    const light = Array.from({ length: 41 }, (_, k) => luminance(ramp(k / 40)));
    for (let k = 1; k < light.length; k++) expect(light[k]!).toBeGreaterThan(light[k - 1]!);
    expect(ramp(Number.NaN)).toEqual(ramp(0));
    expect(ramp(7)).toEqual(ramp(1));
  });
  it("has a wheel that closes, of nearly even lightness", () => {
    expect(wheel(1, true)).toEqual(wheel(0, true));
    const light = Array.from({ length: 24 }, (_, k) => luminance(wheel(k / 24, false)));
    expect(Math.max(...light) / Math.min(...light)).toBeLessThan(1.8);
  });
  it("keeps text and curves readable in both themes", () => {
    for (const theme of [LIGHT, DARK]) {
      const paper = hexToRgb(theme.panel);
      for (const color of [theme.ink, theme.muted, theme.accent, ...Object.values(theme.series)]) {
        expect(contrast(hexToRgb(color), paper)).toBeGreaterThan(4.5);
      }
    }
  });
});

describe("clusters on the stage", () => {
  const points = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]];
  const run = madeRun([
    { points, labels: [0, 1, 2, 3] },
    { points, labels: [0, 1, 3, 3] },
  ]);
  it("gives the first colours to what lives longest and weighs most", () => {
    const slots = colorSlots(run.frames, 4);
    expect([slots[3], slots[0], slots[1], slots[2]]).toEqual([0, 1, 2, 3]);
  });
  it("counts mass by label, equal or weighted", () => {
    const shares = newShares(4);
    clusterShares(run.frames[1]!, shares);
    expect([...shares.byLabel.slice(0, 4)]).toEqual([0.25, 0.25, 0, 0.5]);
    expect(shares.counts[3]).toBe(2);
  });
  it("colours by every mode without a hole", () => {
    const marks = { tints: new Float32Array(12), shapes: new Float32Array(4) };
    const shares = newShares(4);
    clusterShares(run.frames[0]!, shares);
    for (const mode of ["cluster", "start", "index", "mass", "speed"] as const) {
      marks.tints.fill(-1);
      colorTokens(mode, run.frames[0]!, run.frames[1]!, run.frames[0]!, shares, run.slots, true, marks);
      expect(marks.tints.every((x) => x >= 0 && x <= 1)).toBe(true);
    }
  });
});
