import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Frame } from "../src/frames";
import { forcesOf } from "../src/panels/forces";
import { movedInWords } from "../src/panels/matrix";
import { components, Names } from "../src/physics/clusters";
import { attentionMatrix, pulls, velocity, type Field, type Norm } from "../src/physics/field";
import { uniformTokens } from "../src/physics/normals";
import { FrameRecorder } from "../src/physics/recorder";
import { flow } from "../src/physics/solver";

interface Case {
  name: string;
  model: Field["model"];
  norm: Norm;
  change: number;
  perceptron: number;
  beta: number;
  d: number;
  mass: number[];
  heads: { Q: number[][] | null; K: number[][] | null; V: number[][] | null }[];
  start: number[][];
  velocity: number[][];
  end: number[][];
  t1: number;
  energy: number | null;
  cosine: number | null;
  clusters: number;
  radius: number;
}

/** Made by pushforward: `python tests/web/preview_cases.py`. */
const CASES = JSON.parse(readFileSync("test/preview.json", "utf8")) as Case[];
const flat = (rows: number[][] | null): Float64Array | null => (rows === null ? null : Float64Array.from(rows.flat()));
const fieldOf = (c: Case): Field => ({ model: c.model, norm: c.norm, change: c.change, perceptron: c.perceptron, beta: c.beta, n: c.start.length, d: c.d, mass: Float64Array.from(c.mass), heads: c.heads.map((h) => ({ Q: flat(h.Q), K: flat(h.K), V: flat(h.V) })) });
const worst = (a: ArrayLike<number>, b: number[][]): number => b.flat().reduce((top, y, m) => Math.max(top, Math.abs((a[m] as number) - y)), 0);

describe("the preview beside the library", () => {
  for (const made of CASES) {
    it(`${made.name}: velocities to 1e-12, positions at the end to 1e-4, the same clusters`, () => {
      const field = fieldOf(made);
      const start = flat(made.start) as Float64Array;
      const v = new Float64Array(start.length);
      velocity(field, start, v);
      expect(worst(v, made.velocity)).toBeLessThan(1e-12);
      const times = Float64Array.from({ length: 21 }, (_, k) => (made.t1 * k) / 20);
      const frames = [...flow({ field, start, times, noise: 0, normal: () => 0 })];
      expect(frames.map((f) => f.t)).toEqual([...times]);
      const end = frames.at(-1)!.x;
      expect(worst(end, made.end)).toBeLessThan(1e-4);
      const numbers = new FrameRecorder(1, field, made.radius, false).frame(made.t1, end, true);
      for (const name of ["energy", "cosine"] as const) {
        if (made[name] === null) expect(numbers[name]).toBeNaN();
        else expect(numbers[name]).toBeCloseTo(made[name], 4);
      }
      expect(numbers.clusters).toBe(made.clusters);
    });
  }
});

interface Drawn {
  model: Field["model"];
  beta: number;
  start: number[][];
  end: number[][];
  clusters: number;
}

describe("two hundred random states beside the library", () => {
  const states = JSON.parse(readFileSync("test/states.json", "utf8")) as Drawn[];
  it("end within 1e-4 at t = 20 and count the same clusters", () => {
    expect(states.length).toBe(200);
    for (const drawn of states) {
      const n = drawn.start.length;
      const d = drawn.start[0]!.length;
      const field: Field = { model: drawn.model, beta: drawn.beta, n, d, mass: new Float64Array(n).fill(1 / n), heads: [{ Q: null, K: null, V: null }] };
      const [, last] = [...flow({ field, start: flat(drawn.start) as Float64Array, times: Float64Array.of(0, 20), noise: 0, normal: () => 0 })];
      expect(worst(last!.x, drawn.end), JSON.stringify(drawn)).toBeLessThan(1e-4);
      expect(new Set(components(last!.x, n, d, 0.05)).size).toBe(drawn.clusters);
    }
  });
  it("know the general loop and the loop over pairs as one", () => {
    const one: Field = { model: "sa", beta: 5, n: 8, d: 3, mass: Float64Array.from([1, 2, 3, 4, 5, 6, 7, 8], (m) => m / 36), heads: [{ Q: null, K: null, V: null }] };
    const identity = Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1);
    const x = uniformTokens(8, 3, 2);
    for (let i = 0; i < 8; i++) {
      const r = Math.hypot(...x.subarray(3 * i, 3 * i + 3));
      for (let c = 0; c < 3; c++) x[3 * i + c]! /= r;
    }
    for (const model of ["sa", "usa", "causal"] as const) {
      const [a, b] = [new Float64Array(24), new Float64Array(24)];
      velocity({ ...one, model }, x, a);
      velocity({ ...one, model, heads: [{ Q: identity, K: null, V: null }] }, x, b);
      for (let m = 0; m < 24; m++) expect(a[m]).toBeCloseTo(b[m] as number, 13);
    }
  });
});

describe("the pieces", () => {
  const field: Field = { model: "sa", beta: 3, n: 5, d: 3, mass: new Float64Array(5).fill(0.2), heads: [{ Q: null, K: null, V: null }] };
  const x = uniformTokens(5, 3, 1);
  it("splits the velocity of a token into the pulls of all", () => {
    const v = new Float64Array(15);
    velocity(field, x, v);
    for (const more of [{}, { norm: "unit" as const, perceptron: 0.3 }, { norm: "depth" as const }, { norm: "pre" as const }, { norm: "peri" as const }, { norm: "mix" as const, change: 5 }]) {
      const own = { ...field, ...more };
      velocity(own, x, v, 3);
      const parts = pulls(own, x, 2, 3);
      for (let c = 0; c < 3; c++) expect(parts.reduce((sum, { vector }) => sum + (vector[c] as number), 0)).toBeCloseTo(v[6 + c] as number, 12);
    }
  });
  it("says who pulls a token, strongest first", () => {
    const flat = { ...field, n: 3, d: 2, mass: Float64Array.of(1 / 3, 1 / 3, 1 / 3) };
    const frame = { n: 3, dshow: 2, points: Float32Array.of(1, 0, Math.cos(0.3), Math.sin(0.3), -1, 0.01), labels: Uint16Array.of(0, 1, 2) } as unknown as Frame;
    const forces = forcesOf(flat, frame, 0);
    expect(forces.parts[0]).toMatchObject({ head: 0, token: 1 });
    expect(forces.speed).toBeGreaterThan(0.1);
    const twice = forcesOf({ ...flat, heads: [...flat.heads, ...flat.heads] }, frame, 0);
    expect(twice.speed).toBeCloseTo(2 * forces.speed, 12);
    expect(twice.parts.slice(0, 2).map(({ head }) => head).sort()).toEqual([0, 1]);
  });
  it("says who moved a token of a trained model, and who held it back", () => {
    const words = movedInWords([0, 0.1, 0, -0.25], 4, 2);
    expect(words).toContain("in layer 5 attention brought token 2 the following shares of its motion: token 3 -25 %, token 1 10 %.");
    expect(movedInWords([0, 0], 30, 1)).toBe("Nothing is recorded after layer 30: token 1 stays.");
  });
  it("has rows that sum to one, and causal rows that see no later token", () => {
    const causal = attentionMatrix({ ...field, model: "causal" }, x, 0);
    for (let i = 0; i < 5; i++) {
      const row = causal.slice(5 * i, 5 * i + 5);
      expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 6);
      expect([...row.slice(i + 1)]).toEqual(new Array(4 - i).fill(0));
    }
  });
  it("stays on the sphere under noise and spreads as far as it must", () => {
    const mass = new Float64Array(400).fill(1 / 400);
    const free: Field = { ...field, beta: 0, n: 400, mass, heads: [] };
    const start = Float64Array.from({ length: 1200 }, (_, m) => (m % 3 === 0 ? 1 : 0));
    let state = 7;
    const normal = (): number => {
      let sum = -6;
      for (let k = 0; k < 12; k++) sum += (state = (state * 16807) % 2147483647) / 2147483647;
      return sum;
    };
    const frames = [...flow({ field: free, start, times: Float64Array.of(0, 0.5), noise: 1, normal })];
    const end = frames[1]!.x;
    let mean = 0;
    for (let i = 0; i < 400; i++) mean += (end[3 * i] as number) / 400;
    expect(Math.abs(mean - Math.exp(-0.5))).toBeLessThan(0.06); // E <x_t, x_0> = e^{-(d-1) sigma^2 t / 2}
    for (let i = 0; i < 400; i++) expect(Math.hypot(...end.slice(3 * i, 3 * i + 3))).toBeCloseTo(1, 12);
  });
  it("finds chains and keeps their names", () => {
    const angles = [0, 0.04, 0.08, 1, 2, 2.03];
    const points = Float64Array.from(angles.flatMap((a) => [Math.cos(a), Math.sin(a)]));
    expect([...components(points, 6, 2, 0.05)]).toEqual([0, 0, 0, 1, 2, 2]);
    const names = new Names();
    const mass = new Float64Array(6).fill(1 / 6);
    names.follow(Int32Array.of(0, 0, 0, 1, 2, 2), mass);
    expect([...names.follow(Int32Array.of(1, 1, 1, 0, 0, 0), mass)]).toEqual([0, 0, 0, 1, 1, 1]);
  });
});
