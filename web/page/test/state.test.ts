import { describe, expect, it } from "vitest";
import { clampSentence, clampState } from "../src/clamp";
import { compact, decodeLink, encodeLink, LINK_LIMIT, toBase64Url } from "../src/link";
import { defaultState } from "../src/state";

describe("clamping", () => {
  it("keeps a legal state as it is", () => {
    const asked = { model: "causal", beta: -3.5, n: 48, d: 2, V: [1, -0.5], view: { axis: "log", selected: 47 } };
    const { state, clamped } = clampState(asked);
    expect(clamped).toEqual([]);
    expect(state).toMatchObject(asked);
  });
  it("clamps n = 1e9 and says so", () => {
    const { state, clamped } = clampState({ n: 1e9 });
    expect(state.n).toBe(4096);
    expect(clamped).toHaveLength(1);
    expect(clampSentence(clamped[0]!)).toBe("n: 1000000000 became 4096 (must lie between 1 and 4096)");
  });
  it("rounds whole numbers and refuses what is not a number", () => {
    const { state, clamped } = clampState({ n: 10.4, beta: "9", d: Number.NaN });
    expect([state.n, state.beta, state.d]).toEqual([10, 9, 3]);
    expect(clamped.map((c) => c.key)).toEqual(["n", "beta", "d"]);
  });
  it("drops eigenvalues that do not fit d, tokens that do not exist, and keys it does not know", () => {
    const { state, clamped } = clampState({ d: 3, n: 4, V: [1, 2], moved: [[9, [1, 0, 0]], [1, [0, 1, 0]]], wheels: 4 });
    expect(state.V).toBeNull();
    expect(state.moved).toEqual([[1, [0, 1, 0]]]);
    expect(clamped.map((c) => c.key).sort()).toEqual(["V", "moved", "wheels"]);
  });
  it("passes a whole matrix through, up to four by four", () => {
    const V = [[1, 0.5], [0, 2]];
    expect(clampState({ d: 2, V }).state.V).toEqual(V);
    expect(clampState({ d: 5, V: Array.from({ length: 5 }, () => [1, 1, 1, 1, 1]) }).state.V).toBeNull();
  });
  it.each([null, 3, "x", [1]])("makes the default state of %j", (asked) => {
    const { state, clamped } = clampState(asked);
    expect(state).toEqual(defaultState());
    expect(clamped).toHaveLength(1);
  });
  it("does not take identifiers with markup or paths", () => {
    expect(clampState({ file: "../../etc/passwd" }).state.file).toBeNull();
    expect(clampState({ preset: "<b>" }).clamped).toHaveLength(1);
  });
});

describe("link", () => {
  it("round-trips and holds only what differs from the defaults", () => {
    const { state } = clampState({ beta: 2.5, d: 2, V: [1, -1], clock: "log", view: { color: "speed", frame: 12 } });
    expect(Object.keys(compact(state)).sort()).toEqual(["V", "beta", "clock", "d", "v", "view"]);
    const { hash, dropped } = encodeLink(state);
    expect(dropped).toEqual([]);
    expect(hash).toMatch(/^#s=[A-Za-z0-9_-]+$/);
    expect(decodeLink(hash)).toEqual({ state, clamped: [] });
  });
  it("keeps every hand-moved token and stays under 2 kB, or says what it left out", () => {
    const moved = Array.from({ length: 32 }, (_, i) => [i, [0.6123456789, 0.8, 0.1234567]] as [number, number[]]);
    const { state } = clampState({ moved });
    const { hash } = encodeLink(state);
    expect(hash.length).toBeLessThanOrEqual(LINK_LIMIT);
    const back = decodeLink(hash)!.state.moved;
    expect(back).toHaveLength(32);
    expect(back[3]![1][0]).toBeCloseTo(0.61235, 5);
    const wide = { ...state, d: 16, moved: moved.map(([i]) => [i, new Array(16).fill(0.123456)] as [number, number[]]) };
    const cut = encodeLink(wide);
    expect(cut.hash.length).toBeLessThanOrEqual(LINK_LIMIT);
    expect(cut.dropped[0]?.key).toBe("moved");
  });
  it("never throws: torn, huge, foreign and unicode links", () => {
    expect(decodeLink("")).toBeNull();
    expect(decodeLink("#other")).toBeNull();
    expect(decodeLink("#s=%%%")).toBeNull();
    expect(decodeLink("#s=AAAA")!.clamped[0]!.key).toBe("link");
    expect(decodeLink("#s=" + "A".repeat(9000))!.clamped[0]!.why).toContain("longer");
    expect(decodeLink("#s=" + toBase64Url(JSON.stringify({ preset: "β" })))!.clamped[0]!.key).toBe("preset");
  });
});
