/** The legend of the stage: which colour and shape is which cluster, or what the ramp means. */
import { element } from "./dom";
import { percent } from "./numbers";
import { clusterColor, clusterShape, ramp, rgbToCss, SHAPES, wheel } from "./palette";
import { SPEED_RANGE } from "./stage/coloring";
import type { ColorMode } from "./state";
import type { Theme } from "./theme";

const MOST = 8;
const GLYPHS: Readonly<Record<(typeof SHAPES)[number], string>> = { circle: "●", square: "■", triangle: "▲", diamond: "◆", cross: "✚", star: "★", hexagon: "⬢", x: "✖" };

const ENDS: Readonly<Record<Exclude<ColorMode, "cluster"> | "density", [string, string]>> = {
  density: ["density 0", "∞"],
  start: ["starting angle −π", "π"],
  index: ["first token", "last token"],
  mass: ["mass of its cluster 0.001", "1"],
  speed: [`speed 10${"⁻"}${"⁰¹²³⁴"[-SPEED_RANGE[0]]}`, "1"],
};

export class Legend {
  private key = "";

  constructor(private readonly host: HTMLElement) {}

  show(mode: ColorMode | "density", shares: { byLabel: Float32Array; counts: Uint32Array } | null, slots: Uint16Array, theme: Theme, shapes = false, over = true): void {
    if (mode === "cluster") return this.clusters(shares, slots, shapes, over);
    const key = `${mode}${theme.dark}`;
    if (key === this.key) return;
    this.key = key;
    const canvas = element("canvas", { width: "120", height: "10", role: "presentation" });
    const context = canvas.getContext("2d");
    for (let x = 0; x < 120 && context !== null; x++) {
      context.fillStyle = rgbToCss(mode === "start" ? wheel(x / 120 + 0.5, theme.dark) : ramp(x / 119));
      context.fillRect(x, 0, 1, 10);
    }
    const [low, high] = ENDS[mode];
    this.host.replaceChildren(element("span", {}, low), canvas, element("span", {}, high));
  }

  private clusters(shares: { byLabel: Float32Array; counts: Uint32Array } | null, slots: Uint16Array, shapes: boolean, over: boolean): void {
    if (shares === null) return;
    const heavy = [...shares.counts.keys()].filter((l) => (shares.counts[l] as number) > 1);
    heavy.sort((a, b) => (shares.byLabel[b] as number) - (shares.byLabel[a] as number));
    const shown = heavy.slice(0, MOST);
    const key = `${shapes}${over}` + shown.map((l) => `${slots[l]}:${shares.counts[l]}`).join();
    if (key === this.key) return;
    this.key = key;
    this.host.replaceChildren(
      ...(shown.length === 0 ? [] : [over ? "Clusters at the end, by mass" : "Clusters, by mass"]),
      ...shown.map((label) => {
        const slot = slots[label] ?? label;
        const mark = element("b", { "aria-hidden": "true" }, shapes ? GLYPHS[SHAPES[clusterShape(slot)] ?? "circle"] : "●");
        mark.style.color = rgbToCss(clusterColor(slot));
        return element("span", { class: "entry" }, mark, ` ${percent(shares.byLabel[label] as number)}`);
      }),
    );
    if (heavy.length > MOST) this.host.append(element("span", {}, `and ${heavy.length - MOST} more`));
  }
}
