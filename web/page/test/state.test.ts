import { describe, expect, it } from "vitest";
import declared from "../src/declared.json";
import { content, decodeLink, encodeLink, LINK_LIMIT } from "../src/link";
import { clampSentence } from "../src/notices";
import { CONTROLS, defaultState, shaped } from "../src/state";

const EXPERIMENT = { t1: 20, save: 201, start: { kind: "Uniform" }, field: { kind: "Attention", beta: 9 } };
const old = (state: unknown): string => "#s=" + btoa(JSON.stringify(state)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

describe("state", () => {
  it("has the declared controls and their defaults", () => {
    const state = defaultState() as unknown as Record<string, unknown>;
    for (const control of declared.controls) expect(state[control.key]).toBe(control.default);
    expect(Object.keys(state).sort()).toEqual([...CONTROLS.map((c) => c.key), "V", "file", "moved", "experiment", "preset", "view"].sort());
  });
  it("takes what has the right type and leaves ranges to the server", () => {
    const state = shaped({ model: "causal", beta: -3.5, n: 1e9, d: "2", merge: 1, V: [1, -0.5], moved: 3, view: { axis: "log", selected: 47, color: "no" } });
    expect([state.model, state.beta, state.n, state.d, state.merge, state.V, state.moved]).toEqual(["causal", -3.5, 1e9, 3, false, [1, -0.5], []]);
    expect(state.view).toEqual({ ...defaultState().view, axis: "log", selected: 47 });
  });
  it("says what the server changed", () => {
    expect(clampSentence({ key: "n", asked: 1e9, used: 4096, why: "must lie in [1, 4096]" })).toBe("n: 1000000000 became 4096 (must lie in [1, 4096])");
  });
});

describe("link", () => {
  it("holds the experiment, the preset and what differs of the view", async () => {
    const state = { ...shaped({ view: { color: "speed", frame: 12 } }), preset: "a" };
    const held = content({ experiment: EXPERIMENT }, state);
    expect(held).toEqual({ v: 2, experiment: EXPERIMENT, preset: "a", view: { color: "speed", frame: 12 } });
    const { hash, dropped } = await encodeLink(held);
    expect(dropped).toBe(false);
    expect(hash).toMatch(/^#s=e[A-Za-z0-9_-]+$/);
    expect(await decodeLink(hash)).toEqual(held);
  });
  it("holds keys where there is no experiment, and reads links of before", async () => {
    const state = shaped({ model: "recorded", file: "ab" });
    expect(content({ experiment: null }, state)).toEqual({ v: 2, model: "recorded", file: "ab" });
    expect(await decodeLink(old({ v: 1, beta: 2.5, moved: [[1, [0.6, 0.8]]] }))).toEqual({ v: 1, beta: 2.5, moved: [[1, [0.6, 0.8]]] });
  });
  it("keeps every digit of hand-moved tokens, or says that it left them out", async () => {
    const moved = (count: number, d: number): object => {
      const points = Array.from({ length: count }, (_, i) => Array.from({ length: d }, (_, j) => Math.sin(1 + i * d + j)));
      return { ...EXPERIMENT, start: { kind: "UnequalWeights", start: { kind: "Moved", start: EXPERIMENT.start, tokens: points.map((_, i) => i), points } } };
    };
    const some = content({ experiment: moved(24, 3) as Record<string, unknown> }, defaultState());
    const { hash, dropped } = await encodeLink(some);
    expect([dropped, hash.length <= LINK_LIMIT]).toEqual([false, true]);
    expect(await decodeLink(hash)).toEqual(some);
    const all = content({ experiment: moved(64, 3) as Record<string, unknown> }, defaultState());
    expect(await decodeLink((await encodeLink(all)).hash)).toEqual(all);
    const cut = await encodeLink(content({ experiment: moved(512, 3) as Record<string, unknown> }, defaultState()));
    expect([cut.dropped, cut.hash.length <= LINK_LIMIT]).toEqual([true, true]);
    expect(await decodeLink(cut.hash)).toMatchObject({ experiment: { start: { kind: "UnequalWeights", start: { kind: "Uniform" } } } });
  });
  it("never throws: torn, huge, foreign and unicode links", async () => {
    expect(await decodeLink("")).toBeNull();
    expect(await decodeLink("#other")).toBeNull();
    expect(await decodeLink("#s=%%%")).toBeNull();
    for (const text of ["AAAA", "", "eyJ2", "eNplzTEKwzAM", "bnVsbA", "WzFd"]) expect(await decodeLink("#s=" + text)).toContain("copy it again");
    expect(await decodeLink("#s=" + "A".repeat(40000))).toContain("longer");
  });
});
