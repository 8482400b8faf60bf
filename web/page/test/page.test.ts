// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { decodeFloats } from "../src/api";
import { refusal } from "../src/drop";
import { chord, keptByFocus } from "../src/keyboard";
import { compactNumber, percent } from "../src/numbers";
import { cellAt, paintMatrix } from "../src/panels/matrix";
import { placeOnAxis, valueRange } from "../src/panels/phasemap";
import declared from "../src/declared.json";
import { STEPS } from "../src/panels/steps";
import { betaOf, BETA_STEPS, DIMENSIONS, nearestPlace, positionOf, speedOf, stepBeta, TOKEN_COUNTS } from "../src/scales";
import { CONTROLS, controlOf } from "../src/state";
import { alternative, betaInWords, kindInWords } from "../src/words";
import { madeRun } from "./fixture";

describe("sliders", () => {
  it("goes from 0 to 10,000 and back to the same place", () => {
    expect([betaOf(0), betaOf(1), betaOf(BETA_STEPS)]).toEqual([0, 0.01, 10000]);
    for (let p = 0; p <= BETA_STEPS; p += 7) expect(Math.abs(positionOf(betaOf(p)) - p)).toBeLessThanOrEqual(1);
  });
  it("steps through zero to repulsion and back, and stops at the ends", () => {
    let beta = 0.011;
    const seen = [];
    for (let k = 0; k < 4; k++) seen.push((beta = stepBeta(beta, -1)));
    expect(seen.slice(-2).every((b) => b <= 0)).toBe(true);
    expect(seen).toContain(0);
    for (let k = 0; k < 6; k++) beta = stepBeta(beta, 1);
    expect(beta).toBeGreaterThan(0);
    expect(stepBeta(1e4, 1)).toBe(1e4);
    expect(stepBeta(-1e4, -1)).toBe(-1e4);
  });
  it("finds the nearest count, and speeds from 2 to 240", () => {
    expect(TOKEN_COUNTS[nearestPlace(TOKEN_COUNTS, 70)]).toBe(64);
    expect([speedOf(0), speedOf(100)]).toEqual([2, 240]);
  });
});

describe("words", () => {
  it("never calls frozen converged", () => {
    expect(kindInWords("frozen at machine precision")).toBe("frozen at machine precision");
    expect(kindInWords("one cluster")).toBe("one cluster");
    expect(kindInWords("reached t1")).toBe("reached the end");
    expect(kindInWords("something new")).toBe("something new");
  });
  it("says numbers as people read them", () => {
    expect([compactNumber(1e20), compactNumber(-0.00012345), compactNumber(0.30000000000000004), compactNumber(4096), compactNumber(Infinity)]).toEqual(["1e20", "−1.23e−4", "0.3", "4096", "∞"]);
    expect(percent(0.28125)).toBe("28.1 %");
    expect(betaInWords(-2)).toContain("least like it");
  });
  it("describes the picture", () => {
    const run = madeRun([{ points: [[1, 0], [0, 1]], labels: [4, 4] }]);
    const text = alternative(run, 0, 1);
    expect(text).toContain("Frame 1 of 1");
    expect(text).toContain("2 tokens in 2 clusters");
    expect(text).toContain("Token 1 is selected; it is in cluster 4");
    expect(alternative(run, 5, null)).toBe("Nothing is drawn yet.");
  });
});

describe("keys", () => {
  const press = (key: string, target: HTMLElement, more: Partial<KeyboardEventInit> = {}): KeyboardEvent => {
    const event = new KeyboardEvent("keydown", { key, ...more });
    Object.defineProperty(event, "target", { value: target });
    return event;
  };
  it("leaves keys to the control that needs them", () => {
    const range = Object.assign(document.createElement("input"), { type: "range" });
    const number = Object.assign(document.createElement("input"), { type: "number" });
    expect(keptByFocus(press("ArrowLeft", range))).toBe(true);
    expect(keptByFocus(press(" ", range))).toBe(false);
    expect(keptByFocus(press("c", number))).toBe(true);
    expect(keptByFocus(press("Escape", number))).toBe(false);
    expect(keptByFocus(press(" ", document.createElement("button")))).toBe(true);
    expect(keptByFocus(press("c", document.createElement("button")))).toBe(false);
    expect(keptByFocus(press("ArrowLeft", document.body))).toBe(false);
  });
  it("names chords", () => {
    expect(chord(press("ArrowLeft", document.body, { shiftKey: true, altKey: true }))).toBe("alt+shift+ArrowLeft");
    expect(chord(press("?", document.body, { shiftKey: true }))).toBe("?");
    expect(chord(press("S", document.body, { ctrlKey: true }))).toBe("ctrl+s");
  });
});

describe("panels", () => {
  it("finds the token under the pointer in any order, binned or not", () => {
    expect(cellAt(0, 99, 100, { bins: 4, n: 4, order: [3, 2, 1, 0] })).toEqual({ row: 3, column: 0, token: 0 });
    expect(cellAt(0, 60, 100, { bins: 2, n: 8, order: [0, 1, 2, 3, 4, 5, 6, 7] })?.token).toBe(6);
    expect(cellAt(100, 0, 100, { bins: 4, n: 4, order: [] })).toBeNull();
  });
  it("paints the largest value brightest", () => {
    const out = new Uint8ClampedArray(16);
    paintMatrix(Float32Array.from([0, 0.1, 0.2, 1]), 2, out);
    expect(out[12]!).toBeGreaterThan(out[0]!);
    expect(out[3]).toBe(255);
  });
  it("reads base64 floats", () => {
    const bytes = new Uint8Array(Float32Array.from([1.5, -2]).buffer);
    expect([...decodeFloats(btoa(String.fromCharCode(...bytes)))]).toEqual([1.5, -2]);
  });
  it("places a value between the cells of a log axis", () => {
    const axis = { name: "beta", label: "", scale: "log" as const, values: [1, 10, 100] };
    expect(placeOnAxis(axis, 1)).toBeCloseTo(0.5);
    expect(placeOnAxis(axis, Math.sqrt(10))).toBeCloseTo(1);
    expect(placeOnAxis(axis, 100)).toBeCloseTo(2.5);
  });
  it("ranges over what is known", () => {
    expect(valueRange([[null, 2], [4, null]])).toEqual({ low: 2, high: 4, log: false });
    expect(valueRange([[1, 100]]).log).toBe(true);
    expect(valueRange([[1e-9, 0.5]], true)).toEqual({ low: 0, high: 1, log: false });
    expect(valueRange([[null]])).toEqual({ low: 0, high: 1, log: false });
  });
  it("refuses files before sending them", () => {
    expect(refusal("a.pickle", 10)).toContain("not one of");
    expect(refusal("a.npy", 0)).toContain("empty");
    expect(refusal("a.NPY", 2 ** 28)).toContain("at most 64");
    expect(refusal("a.safetensors", 100)).toBeNull();
  });
});

describe("sliders", () => {
  it("end where the declared ranges end", () => {
    expect(betaOf(BETA_STEPS)).toBe(controlOf("beta").high);
    expect([TOKEN_COUNTS.at(-1), DIMENSIONS.at(-1)]).toEqual([controlOf("n").high, controlOf("d").high]);
    expect([TOKEN_COUNTS[0], DIMENSIONS[0]]).toEqual([controlOf("n").low, controlOf("d").low]);
  });
});

describe("story", () => {
  it("has chapters whose states are legal", () => {
    expect(STEPS).toHaveLength(declared.story.length);
    for (const step of STEPS) {
      const keys = new Set([...CONTROLS.map((c) => c.key), "moved", "V", "view", "file"]);
      for (const [key, value] of Object.entries(step.state)) {
        expect(keys).toContain(key);
        const control = CONTROLS.find((c) => c.key === key);
        if (control?.choices) expect(control.choices.map((c) => c.value)).toContain(value);
        else if (control) expect(Math.min(control.high!, Math.max(control.low!, value as number))).toBe(value);
      }
      expect(step.setting.length).toBeGreaterThan(40);
    }
  });
  it("reads its verdicts off the run", () => {
    const points = Array.from({ length: 8 }, () => [1, 0, 0]);
    const ended = (clusters: number) => madeRun([{ points, clusters: 8 }, { points, clusters }]);
    expect(STEPS[2]!.verdict(ended(3))).toBe(1);
    expect(STEPS[2]!.verdict(ended(8))).toBe(0);
    expect(STEPS[3]!.verdict(ended(1))).toBe(0);
    expect(STEPS[2]!.explanation(ended(3))).toContain("8 clusters at the start, 3 clusters at t = 1");
  });
});
