/** The horizontal axis of the ribbon: linear time, logarithmic time, arc length, or layer. */
import { compactNumber } from "./numbers";
import type { Run } from "./run";
import type { Axis } from "./state";

/** The x of every frame. On the log axis t = 0 stands one step left of the first positive time. */
export function axisValues(run: Run, axis: Axis): number[] {
  if (axis === "arc") return run.series("arc");
  if (axis === "layer") return run.series("t").map((t) => t / run.state.h);
  if (axis === "linear") return run.series("t");
  const values = run.series("log10t").map((x) => (Number.isFinite(x) ? x : NaN));
  const first = values.findIndex((x) => !Number.isNaN(x));
  if (first === -1) return values.map((_, k) => k);
  const start = values[first] as number;
  const next = values[first + 1] ?? start + 1;
  const gap = Math.min(1, Math.max(0.05, next - start));
  return values.map((x, k) => (Number.isNaN(x) ? start - gap * (first - k) : x));
}

/** The frame whose x is nearest. */
export function nearestFrame(xs: readonly number[], x: number): number {
  let best = 0;
  let gap = Infinity;
  for (let k = 0; k < xs.length; k++) {
    const distance = Math.abs((xs[k] as number) - x);
    if (distance < gap) {
      gap = distance;
      best = k;
    }
  }
  return best;
}

export function axisLabel(axis: Axis, h: number): string {
  switch (axis) {
    case "linear":
      return "time t";
    case "log":
      return "time t, logarithmic";
    case "arc":
      return "arc length travelled";
    case "layer":
      return `layer, t / h with h = ${compactNumber(h)}`;
  }
}

const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A tick of the axis: powers of ten when logarithmic. */
export function axisTick(axis: Axis, x: number): string {
  if (axis !== "log") return compactNumber(x);
  if (Math.abs(x - Math.round(x)) > 1e-9) return "";
  if (x >= -1 && x <= 2) return compactNumber(10 ** x);
  const digits = [...String(Math.abs(Math.round(x)))].map((c) => SUPERSCRIPT[Number(c)] ?? "").join("");
  return `10${x < 0 ? "⁻" : ""}${digits}`;
}

/** Lines at 1, 2, 5, 10, ... up to the top of a logarithmic axis of counts. */
export function countSplits(top: number): number[] {
  const out: number[] = [];
  for (let power = 1; power <= top; power *= 10) out.push(...[1, 2, 5].map((m) => m * power).filter((y) => y <= top));
  return out;
}

/** Which of these lines get a number: all while they are few, else the powers of ten. */
export function countLabel(y: number, splits: readonly number[]): boolean {
  return splits.length <= 3 || Number.isInteger(Math.round(1e9 * Math.log10(y)) / 1e9);
}

/** A handful of round places between two numbers; whole numbers when they are exponents. */
export function niceTicks(low: number, high: number, whole: boolean): number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const raw = span / 6;
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  if (whole) step = Math.max(1, Math.round(step));
  const out: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * span; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}
