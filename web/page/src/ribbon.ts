/** The time ribbon: the whole life of a run at once, its plateaus shaded, a head to drag. */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { axisLabel, axisTick, axisValues, countLabel, countSplits, nearestFrame, niceTicks } from "./axis";
import { FONT } from "./canvas";
import { element, say, seldom } from "./dom";
import { compactNumber, lifetimeInWords, percent, plural } from "./numbers";
import { plateauAt } from "./plateaus";
import { SERIES, type Run, type SeriesName } from "./run";
import type { Axis } from "./state";
import { LIGHT, type Theme } from "./theme";

const LABELS: Readonly<Record<SeriesName, string>> = { energy: "Energy", clusters: "Clusters", largest: "Largest mass", cosine: "Mean cosine" };
const SHARES: readonly SeriesName[] = ["energy", "largest", "cosine"];
const DASHES: Readonly<Record<SeriesName, number[]>> = { energy: [], clusters: [], largest: [7, 3], cosine: [2, 3] };

export class Ribbon {
  private readonly chips = new Map<string, HTMLElement>();
  private readonly clock = element("dt", {}, "Time t");
  private readonly charts = element("div", { class: "pf-charts" });
  private readonly head = element("div", { class: "pf-head" });
  private readonly hover: HTMLElement;
  private plots: uPlot[] = [];
  private xs: number[] = [];
  private run: Run | null = null;
  private axis: Axis = "linear";
  private theme: Theme = LIGHT;
  private other: Run | null = null;
  private position = 0;
  private readonly due = seldom();
  /** What the chips show now. */
  private told: { k: number; run: Run | null } = { k: -1, run: null };
  private readonly resizer: ResizeObserver;

  constructor(readonly host: HTMLElement, private readonly seek: (frame: number) => void, private readonly tall = 1) {
    host.classList.add("pf-ribbon");
    this.hover = element("p", { class: "pf-hover" });
    host.append(this.chipRow(), this.charts, this.hover);
    this.charts.append(this.head);
    this.resizer = new ResizeObserver(() => this.resize());
    this.resizer.observe(this.charts);
  }

  private chipRow(): HTMLElement {
    const list = element("dl", { class: "pf-chips" });
    for (const name of ["t", ...SERIES] as const) {
      const value = element("dd", { "data-value": name, "data-number": "" }, "–");
      this.chips.set(name, value);
      list.append(element("div", { class: `pf-chip pf-${name}` }, name === "t" ? this.clock : element("dt", {}, LABELS[name]), value));
    }
    return list;
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    if (this.run !== null) this.rebuild();
  }

  setRun(run: Run, axis: Axis): void {
    this.run = run;
    this.axis = axis;
    say(this.clock, run.accepted.layers ? "Layer" : "Time t");
    this.rebuild();
  }

  /** How many curves the upper chart has. */
  get curves(): number {
    return (this.plots[0]?.series.length ?? 1) - 1;
  }

  /** Another run to compare with, drawn fainter; null for none. */
  beside(other: Run | null): void {
    this.other = other;
    if (this.run !== null) this.rebuild();
  }

  /** More frames came, or the plateaus are known. */
  update(): void {
    if (this.run === null) return;
    this.read(this.run);
    const [shares, counts] = this.plots;
    shares?.setData(this.data(SHARES));
    counts?.setData(this.data(["clusters"]));
    this.placeHead();
  }

  /** The head at a real-valued frame; the chips show the whole frame under it. */
  show(position: number, moving = false): void {
    this.position = position;
    this.placeHead();
    const k = Math.floor(position + 1e-9);
    if ((k === this.told.k && this.run === this.told.run) || !this.due(moving)) return;
    const numbers = this.run?.numbers(k);
    if (!numbers) return;
    this.told = { k, run: this.run };
    for (const [name, chip] of this.chips) {
      const value = numbers[name as keyof typeof numbers];
      const text = Number.isNaN(value) ? "–" : name === "largest" ? percent(value) : compactNumber(value);
      say(chip, text);
      chip.dataset["number"] = String(value);
    }
  }

  private read(run: Run): void {
    this.xs = axisValues(run, this.axis);
  }

  /** What is not a number (the energy of tokens without a sphere) leaves a gap. */
  private data(names: readonly SeriesName[]): uPlot.AlignedData {
    const run = this.run as Run;
    const finite = (y: number): number | null => (Number.isFinite(y) ? y : null);
    const faint = this.other === null ? [] : names.map((name) => this.otherSeries(this.other as Run, name).map(finite));
    return [this.xs, ...names.map((name) => run.series(name).map(finite)), ...faint] as uPlot.AlignedData;
  }

  /** The other run where this one has its frames. */
  private otherSeries(other: Run, name: SeriesName): number[] {
    const [xs, ys] = [axisValues(other, this.axis), other.series(name)];
    let k = 0;
    return this.xs.map((x) => {
      if (x > (xs.at(-1) ?? 0)) return NaN;
      while (k + 2 < xs.length && (xs[k + 1] as number) <= x) k += 1;
      const [a, b] = [xs[k] as number, xs[k + 1] ?? (xs[k] as number)];
      const u = b > a ? Math.max(0, (x - a) / (b - a)) : 0;
      return name === "clusters" ? (ys[k] as number) : (1 - u) * (ys[k] as number) + u * (ys[k + 1] ?? (ys[k] as number));
    });
  }

  private rebuild(): void {
    const run = this.run as Run;
    for (const plot of this.plots) plot.destroy();
    this.read(run);
    const upper = this.tall * Math.min(128, Math.max(84, 0.105 * innerHeight));
    this.plots = [
      new uPlot(this.options(SHARES, upper, false), this.data(SHARES), this.charts),
      new uPlot(this.options(["clusters"], 0.6 * upper + 46, true), this.data(["clusters"]), this.charts),
    ];
    for (const plot of this.plots) this.listen(plot);
    this.placeHead();
  }

  private options(names: readonly SeriesName[], height: number, bottom: boolean): uPlot.Options {
    const { theme, axis } = this;
    const counts = names.includes("clusters");
    const axisBase = { stroke: theme.muted, grid: { stroke: theme.grid, width: 1 }, ticks: { show: false }, font: `12px ${FONT}` };
    return {
      width: Math.max(80, this.charts.clientWidth),
      height,
      padding: [8, 14, bottom ? 0 : 8, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: {
        x: { time: false, range: (_u, low, high) => this.span(low, high) },
        y: counts ? { distr: 3, range: (_u, _l, high) => [0.8, Math.max(2, high * 1.25)] } : { range: (_u, low) => [Math.min(0, low ?? 0), 1.02] },
      },
      axes: [
        { ...axisBase, show: bottom, size: 22, gap: 4, label: this.run?.accepted.layers && axis === "linear" ? "layer" : axisLabel(axis, this.run?.state.h ?? 0.1), splits: (u) => niceTicks(u.scales["x"]?.min ?? 0, u.scales["x"]?.max ?? 1, axis === "log" || (this.run?.accepted.layers ?? false)), labelSize: 20, labelGap: -2, labelFont: `12px ${FONT}`, values: (_u, ticks) => ticks.map((x) => axisTick(axis, x)) },
        { ...axisBase, size: 46, gap: 4, ...(counts ? { splits: (u: uPlot) => countSplits(u.scales["y"]?.max ?? 10), filter: (_u: uPlot, splits: number[]) => splits } : {}), values: (_u, ticks) => ticks.map((y) => (y === null ? "" : counts && !countLabel(y, ticks) ? "" : compactNumber(y))) },
      ],
      series: [
        {},
        ...[false, ...(this.other === null ? [] : [true])].flatMap((faint) => names.map((name): uPlot.Series => {
          const stepped = counts ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
          return { label: LABELS[name], stroke: theme.series[name] + (faint ? "70" : ""), width: faint ? 4 : 2, dash: DASHES[name], points: { show: false }, ...(stepped ? { paths: stepped } : {}) };
        })),
      ],
      hooks: { drawClear: [(u) => this.shade(u)], setCursor: [(u) => this.tell(u)] },
    };
  }

  private span(low: number, high: number): [number, number] {
    const first = low ?? 0;
    const end = this.axis === "linear" ? Math.max(high ?? 1, this.run?.horizon ?? 1) : (high ?? 1);
    return end > first ? [first, end] : [first, first + 1];
  }

  private shade(u: uPlot): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.fillStyle = this.theme.plateau;
    for (const plateau of this.run?.plateaus ?? []) {
      const [a, b] = [plateau.from, plateau.to].map((k) => u.valToPos(this.xs[k] ?? this.xs.at(-1) ?? 0, "x", true)) as [number, number];
      ctx.fillRect(a, bbox.top, Math.max(2, b - a), bbox.height);
    }
    ctx.restore();
  }

  /** Hover: what the numbers are here, and how long this plateau lasts. */
  private tell(u: uPlot): void {
    const k = u.cursor.idx;
    const numbers = k === null || k === undefined ? null : this.run?.numbers(k);
    if (!numbers) return say(this.hover, "");
    const plateau = plateauAt(this.run?.plateaus ?? [], k as number);
    const rest = plateau === null ? "" : `; plateau of ${plural(plateau.clusters, "cluster")}, lifetime ${lifetimeInWords(plateau.lifetime)}`;
    const known = [
      Number.isNaN(numbers.clusters) ? "" : plural(numbers.clusters, "cluster"),
      Number.isNaN(numbers.energy) ? "" : `energy ${compactNumber(numbers.energy)}`,
    ].filter(Boolean);
    say(this.hover, `${(this.run as Run).moment(k as number)}: ${known.join(", ")}${rest}`);
  }

  private listen(plot: uPlot): void {
    const go = (event: PointerEvent): void => {
      const left = event.clientX - plot.over.getBoundingClientRect().left;
      this.seek(nearestFrame(this.xs, plot.posToVal(left, "x")));
    };
    plot.over.addEventListener("pointerdown", (event) => {
      plot.over.setPointerCapture(event.pointerId);
      go(event);
    });
    plot.over.addEventListener("pointermove", (event) => {
      if (plot.over.hasPointerCapture(event.pointerId)) go(event);
    });
  }

  private placeHead(): void {
    const plot = this.plots[0];
    if (plot === undefined || this.xs.length === 0) return;
    const k = Math.min(this.xs.length - 1, Math.floor(this.position));
    const [a, b] = [this.xs[k] as number, this.xs[k + 1] ?? (this.xs[k] as number)];
    const x = plot.valToPos(a + (this.position - k) * (b - a), "x") + plot.over.offsetLeft;
    if (Number.isFinite(x)) this.head.style.transform = `translateX(${x}px)`;
  }

  private resize(): void {
    for (const plot of this.plots) plot.setSize({ width: Math.max(80, this.charts.clientWidth), height: plot.height });
    this.placeHead();
  }

  dispose(): void {
    this.resizer.disconnect();
    for (const plot of this.plots) plot.destroy();
    this.host.replaceChildren();
  }
}
