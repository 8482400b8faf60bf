/** How a phase diagram looks: cells, axes, colour scale, the curve of the theory, cursor and run. */
import type { PhaseAnswer, PhaseAxis } from "../api";
import { FONT, type Paper } from "../canvas";
import { compactNumber } from "../numbers";
import { ramp, rgbToCss } from "../palette";
import { niceTicks } from "../axis";
import type { Theme } from "../theme";

const MARGIN = { left: 58, right: 64, top: 10, bottom: 46 };
/** An axis of so few values is a list: each is named. */
const FEW = 8;

/** The place of a value on an axis of cells, in cells from the start; between cells by the axis' own scale. */
export function placeOnAxis(axis: PhaseAxis, value: number): number {
  const { values } = axis;
  const f = (x: number): number => (axis.scale === "log" ? Math.log(Math.max(1e-300, x)) : x);
  const last = values.length - 1;
  if (last < 1) return 0.5;
  let k = 0;
  while (k < last - 1 && value > (values[k + 1] as number)) k++;
  const [a, b] = [f(values[k] as number), f(values[k + 1] as number)];
  return k + 0.5 + (f(value) - a) / (b - a);
}

/** Low and high of what is known. A probability spans 0 to 1; counts and times are logarithmic when they span decades. */
export function valueRange(values: readonly (readonly (number | null)[])[], probability = false): { low: number; high: number; log: boolean } {
  if (probability) return { low: 0, high: 1, log: false };
  let low = Infinity;
  let high = -Infinity;
  for (const row of values) {
    for (const v of row) {
      if (v === null || !Number.isFinite(v)) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  }
  if (!(high >= low)) return { low: 0, high: 1, log: false };
  return { low, high: high > low ? high : low + 1, log: low > 0 && high / low > 30 };
}

/** Where numbers stand along an axis: its own values when they are few, else round ones. */
export function axisTicks(axis: PhaseAxis, most: number): number[] {
  const { values } = axis;
  const [low, high] = [values[0] ?? 0, values.at(-1) ?? 1];
  if (values.length <= FEW) return values;
  if (axis.scale !== "log") return niceTicks(low, high, false);
  const ticks: number[] = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) ticks.push(...[1, 2, 5].map((m) => m * power));
  const inside = ticks.filter((x) => x >= low * 0.999 && x <= high * 1.001);
  return inside.length > most ? inside.filter((x) => Number.isInteger(Math.round(1e6 * Math.log10(x)) / 1e6)) : inside;
}

type Range = ReturnType<typeof valueRange>;
type Box = { left: number; top: number; wide: number; tall: number };

export interface PhaseLook {
  range: Range;
  /** What the colours show. */
  name: string;
  cursor: { x: number; y: number };
  /** Where the current run lies, if it is on the map. */
  here: readonly unknown[];
  theme: Theme;
}

export function boxOf(paper: { width: number; height: number }): Box {
  return { left: MARGIN.left, top: MARGIN.top, wide: paper.width - MARGIN.left - MARGIN.right, tall: paper.height - MARGIN.top - MARGIN.bottom };
}

export function paintPhase(paper: Paper, answer: PhaseAnswer, look: PhaseLook): void {
  const box = boxOf(paper);
  paintCells(paper, box, answer, look);
  paintAxes(paper, box, answer, look.theme);
  paintScale(paper, box, look);
  paintTheory(paper, box, answer);
  paintMarks(paper, box, answer, look);
}

const across = (box: Box, axis: PhaseAxis, x: number): number => box.left + (placeOnAxis(axis, x) / axis.values.length) * box.wide;
const up = (box: Box, axis: PhaseAxis, y: number): number => box.top + box.tall - (placeOnAxis(axis, y) / axis.values.length) * box.tall;

function shade(v: number, { low, high, log }: Range): number {
  return log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low);
}

function paintCells({ context }: Paper, { left, top, wide, tall }: Box, answer: PhaseAnswer, { range, theme }: PhaseLook): void {
  const [w, h] = [wide / answer.x.values.length, tall / answer.y.values.length];
  answer.values.forEach((row, y) =>
    row.forEach((value, x) => {
      context.fillStyle = value === null ? theme.grid : rgbToCss(ramp(shade(value, range)));
      context.fillRect(left + x * w, top + tall - (y + 1) * h, w + 0.5, h + 0.5);
    }),
  );
}

function paintAxes({ context }: Paper, box: Box, answer: PhaseAnswer, theme: Theme): void {
  const { left, top, wide, tall } = box;
  context.font = `12px ${FONT}`;
  context.fillStyle = theme.muted;
  context.strokeStyle = theme.muted;
  context.lineWidth = 1;
  context.textAlign = "center";
  context.textBaseline = "top";
  const tick = (x0: number, y0: number, x1: number, y1: number): void => {
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
  };
  for (const v of axisTicks(answer.x, wide / 40)) {
    const x = across(box, answer.x, v);
    tick(x, top + tall, x, top + tall + 4);
    context.fillText(compactNumber(v, 2), x, top + tall + 7);
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const v of axisTicks(answer.y, tall / 24)) {
    const y = up(box, answer.y, v);
    tick(left - 4, y, left, y);
    context.fillText(compactNumber(v, 2), left - 7, y);
  }
  context.fillStyle = theme.ink;
  context.textAlign = "center";
  context.fillText(answer.x.label, left + wide / 2, top + tall + 34);
  sideways(context, answer.y.label, 10, top + tall / 2);
}

function sideways(context: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 2);
  context.fillText(text, 0, 0);
  context.restore();
}

function paintScale({ context, width }: Paper, { left, top, wide, tall }: Box, { range, name, theme }: PhaseLook): void {
  const x = left + wide + 10;
  for (let k = 0; k < tall; k++) {
    context.fillStyle = rgbToCss(ramp(1 - k / tall));
    context.fillRect(x, top + k, 10, 1.5);
  }
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = theme.muted;
  const between = range.log ? [1, 2, 5, 10, 20, 50, 100, 200].filter((v) => v > range.low && v < range.high) : niceTicks(range.low, range.high, false);
  const spots = [range.low, ...between, range.high].map((v) => ({ v, y: top + tall * (1 - shade(v, range)) }));
  let last = Infinity;
  for (const { v, y } of spots) {
    if (last - y < 15) continue;
    last = y;
    context.fillText(compactNumber(v, 2), x + 14, Math.min(top + tall - 5, Math.max(top + 6, y)));
  }
  context.fillStyle = theme.ink;
  context.textAlign = "center";
  sideways(context, name, width - 8, top + tall / 2);
}

function paintTheory({ context }: Paper, box: Box, answer: PhaseAnswer): void {
  if (answer.theory === null) return;
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.wide, box.tall);
  context.clip();
  for (const [color, width] of [["#000000", 5], ["#ffffff", 2.5]] as const) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.setLineDash(color === "#ffffff" ? [8, 5] : []);
    context.beginPath();
    answer.theory.x.forEach((x, k) => context.lineTo(across(box, answer.x, x), up(box, answer.y, answer.theory?.y[k] as number)));
    context.stroke();
  }
  context.restore();
}

/** The cursor, and a dot where the current run lies when it is on the map. */
function paintMarks({ context }: Paper, box: Box, answer: PhaseAnswer, { cursor, here }: PhaseLook): void {
  const { left, top, wide, tall } = box;
  const [w, h] = [wide / answer.x.values.length, tall / answer.y.values.length];
  for (const [color, width] of [["#000000", 3], ["#ffffff", 1.5]] as const) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.strokeRect(left + cursor.x * w, top + tall - (cursor.y + 1) * h, w, h);
  }
  const [x, y] = here;
  if (typeof x !== "number" || typeof y !== "number") return;
  const [px, py] = [across(box, answer.x, x), up(box, answer.y, y)];
  if (px < left || py < top || px > left + wide || py > top + tall) return;
  context.fillStyle = "#ffffff";
  context.strokeStyle = "#000000";
  context.beginPath();
  context.arc(px, py, 5, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}
