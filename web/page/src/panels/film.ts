/** A five-second loop of a run, and a card to share: made here, from the stage as it is turned. */
import { FONT } from "../canvas";
import type { Explorer } from "../explorer";
import { compactNumber, percent, plural } from "../numbers";
import type { Run } from "../run";
import { rgbToCss, hexToRgb } from "../palette";
import { asGiven } from "../state";
import { paintInto } from "../stage/copies";
import type { Stage } from "../stage/stage";
import type { Theme } from "../theme";
import { apng } from "./apng";

const SECONDS = 5;
const RATE = 15;
/** Part of the loop that rests on the end. */
const REST = 0.16;
const SIDE = 480;
const CARD = [1200, 630] as const;

export const caption = ({ state, accepted }: Run): string =>
  accepted.density ? "a density" : state.model === "recorded" || asGiven(state) ? `${accepted.n} tokens` : `${state.model.toUpperCase()}   β = ${compactNumber(state.beta)}   n = ${accepted.n}   d = ${accepted.d}`;

function sheet(width: number, height: number): CanvasRenderingContext2D {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("this browser draws no canvas");
  return context;
}

function pictureOf(context: CanvasRenderingContext2D, stage: Stage, run: Run, frame: number, theme: Theme): ImageData {
  const { width, height } = context.canvas;
  context.fillStyle = theme.panel;
  context.fillRect(0, 0, width, height);
  paintInto(stage.layers(), context, 0, 0, width, height - 34);
  context.font = `15px ${FONT}`;
  context.textBaseline = "middle";
  context.fillStyle = theme.ink;
  context.fillText(caption(run), 14, height - 18);
  context.textAlign = "right";
  context.fillText(run.moment(frame, 3), width - 14, height - 18);
  context.textAlign = "left";
  return context.getImageData(0, 0, width, height);
}

/** The run from its first to its last frame in five seconds, as an animated PNG. */
export async function loopOf(explorer: Explorer, stage: Stage, theme: Theme, progress: (share: number) => void): Promise<Blob> {
  const run = explorer.run as Run;
  const context = sheet(run.accepted.d === 2 ? 2 * SIDE : SIDE, SIDE + 34);
  const count = SECONDS * RATE;
  const before = explorer.player.position;
  explorer.player.pause();
  stage.grain = 0;
  const pictures = async function* (): AsyncGenerator<ImageData> {
    for (let k = 0; k < count; k++) {
      const u = Math.min(1, k / ((1 - REST) * (count - 1)));
      stage.show(u * run.last);
      yield pictureOf(context, stage, run, Math.floor(u * run.last), theme);
      progress((k + 1) / count);
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  try {
    return await apng(pictures(), 1000 / RATE);
  } finally {
    stage.grain = 1;
    stage.show(before);
  }
}

/** Stage, name, numbers and curves on one sheet, sized as previews of links are. */
export async function cardOf(explorer: Explorer, stage: Stage, theme: Theme, title: string): Promise<Blob> {
  const run = explorer.run as Run;
  const frame = run.frames[explorer.player.frame] ?? run.frames[run.last]!;
  const context = sheet(...CARD);
  const [width, height] = CARD;
  const left = run.accepted.d === 2 ? 760 : 640;
  context.fillStyle = theme.panel;
  context.fillRect(0, 0, width, height);
  paintInto(stage.layers(), context, 20, 20, left - 40, height - 40);
  const write = (text: string, y: number, font: string, color: string): void => {
    context.font = `${font} ${FONT}`;
    context.fillStyle = color;
    const lines = wrapped(context, text, width - left - 40);
    lines.forEach((line, k) => context.fillText(line, left, y + k * 1.25 * Number.parseInt(font.replace(/^\d+ /, ""))));
  };
  write("pushforward", 66, "700 26px", theme.accent);
  write(title, 128, "700 36px", theme.ink);
  write(caption(run), 300, "24px", theme.muted);
  write(`${run.moment(frame.index)}:  ${plural(frame.clusters, "cluster")}, the largest with ${percent(frame.largest)}`, 340, "24px", theme.ink);
  curves(context, run, frame.index, theme, left, 430, width - left - 40, 140);
  return new Promise((resolve, reject) => context.canvas.toBlob((blob) => (blob === null ? reject(new Error("no picture")) : resolve(blob)), "image/png"));
}

function wrapped(context: CanvasRenderingContext2D, text: string, wide: number): string[] {
  const lines: string[] = [""];
  const kept = text.replace(/ (=|%)( ?)/g, (_all, sign: string, after: string) => `\u00a0${sign}${after === "" ? "" : sign === "=" ? "\u00a0" : " "}`);
  for (const word of kept.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (context.measureText(longer).width > wide && lines.at(-1) !== "") lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.slice(0, 4);
}

function curves(context: CanvasRenderingContext2D, run: Run, at: number, theme: Theme, x: number, y: number, width: number, height: number): void {
  const across = (k: number): number => x + (width * k) / Math.max(1, run.last);
  for (const name of ["energy", "largest", "cosine"] as const) {
    const values = run.series(name).filter(Number.isFinite);
    if (values.length === 0) continue;
    context.strokeStyle = theme.series[name];
    context.lineWidth = 3;
    context.beginPath();
    values.forEach((value, k) => context.lineTo(across(k), y + height * (1 - Math.max(0, Math.min(1, value)))));
    context.stroke();
  }
  context.strokeStyle = rgbToCss(hexToRgb(theme.ink), 0.7);
  context.lineWidth = 2;
  context.strokeRect(across(at), y, 0.01, height);
}
