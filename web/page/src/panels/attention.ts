/** The attention matrix: who looks at whom, in the order you choose, linked with the stage. */
import { attention, attentionRow, decodeFloats, type AttentionAnswer } from "../api";
import { freshPaper, FONT } from "../canvas";
import { byId, element, say } from "../dom";
import type { Explorer } from "../explorer";
import { compactNumber } from "../numbers";
import { ramp, rgbToCss } from "../palette";
import type { Field } from "../physics/field";
import { shownField } from "../sources/preview";
import { SITE } from "../sources/site";
import type { Theme } from "../theme";
import { forceList, forcesOf, type Forces } from "./forces";
import { cellAt, liveAnswer, MOST_LIVE, movedInWords, paintMatrix } from "./matrix";

/** Milliseconds between two matrices while the run plays. */
const EVERY = 150;
const ORDERS = [["index", "index"], ["cluster", "cluster"], ["angle", "angle"]] as const;

export class AttentionPanel {
  row: Float32Array | null = null;
  private readonly canvas = element("canvas", { class: "matrix", role: "img" });
  private readonly curve = element("canvas", { class: "entropy", role: "img", "aria-label": "Entropy of every row" });
  private readonly facts = element("p", { class: "facts" });
  private readonly leaders = element("p", { class: "facts" });
  private readonly why = element("div", { class: "facts", id: "why" });
  private readonly heads = element("div", { class: "heads", role: "group", "aria-label": "Head" });
  private readonly order = element("select", { id: "order" }, ...ORDERS.map(([value, text]) => element("option", { value }, text)));
  private readonly top = element("div", { class: "panelbar" });
  private readonly note = element("div");
  private head = 0;
  private answer: Omit<AttentionAnswer, "values"> | null = null;
  private readonly scale = element("p", { class: "scale small" });
  private field: Field | null = null;
  private drawnAt = 0;
  /** What `follow` has drawn last; `shown` is what the server has answered. */
  private followed = "";
  private image: HTMLCanvasElement | null = null;
  private shown = "";
  private fetching = new AbortController();
  private rowFetching = new AbortController();

  constructor(private readonly explorer: Explorer, private readonly theme: () => Theme, private readonly rowChanged: (row: Float32Array | null, moved: boolean) => void, private readonly forcesChanged: (forces: Forces | null) => void) {
    this.top.append(element("label", {}, "Order by ", this.order), this.heads);
    this.note.append(element("p", { class: "small" }, "A row shows whom a token looks at; brighter is more."), this.scale);
    byId("attention").append(this.top, this.canvas, this.note, this.why, this.facts, this.curve, this.leaders);
    this.order.value = "cluster";
    this.order.addEventListener("change", () => void this.load());
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("click", (event) => this.click(event));
    explorer.on("rest", () => void this.load());
    explorer.on("done", () => void this.load());
    explorer.on("run", () => this.reset());
    explorer.on("selected", () => this.selected());
    explorer.on("moment", () => this.follow());
    explorer.on("frames", () => this.follow());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  /** Matrices that a frame of the present run has. */
  private get count(): number {
    return this.explorer.run?.accepted.heads ?? this.explorer.state.heads;
  }

  private get visible(): boolean {
    return !byId("attention").hidden;
  }

  private reset(): void {
    this.fetching.abort();
    this.rowFetching.abort();
    this.shown = this.followed = "";
    this.field = this.explorer.run === null ? null : shownField(this.explorer.run);
    this.showHeads();
    if (this.live) return this.follow();
    this.setRow(null);
    this.explain(null);
    this.reveal(false);
    const none = this.explorer.run?.accepted.density ? "A density has no attention matrix." : "What moves these tokens has no attention matrix.";
    say(this.facts, this.count === 0 ? none : SITE === undefined ? "The matrix comes when the run is done and the play head rests." : "This page has no server: it knows no matrix of this run.");
  }

  /** A box without a matrix is not shown. */
  private reveal(shown: boolean): void {
    for (const part of [this.top, this.canvas, this.curve, this.leaders, this.note]) part.hidden = !shown;
  }

  /** Whether the matrix of the present run can be computed here. */
  private get live(): boolean {
    return this.field !== null && this.field.n <= MOST_LIVE;
  }

  /** The matrix of the frame under the head, a few times a second. */
  private follow(): void {
    const { run, player, state } = this.explorer;
    const frame = run?.frames[player.frame];
    if (run === null || frame === undefined || this.field === null || !this.live || (!this.visible && state.view.selected === null)) return;
    const key = ["live", run.id, player.frame, this.head, this.order.value, state.view.selected].join("/");
    if (key === this.followed || (player.playing && performance.now() - this.drawnAt < EVERY)) return;
    this.drawnAt = performance.now();
    [this.followed, this.shown] = [key, ""];
    const found = liveAnswer(this.field, frame, Math.min(this.head, this.field.heads.length - 1), this.order.value);
    this.answer = found;
    const token = state.view.selected;
    this.setRow(token === null ? null : found.rows.slice(token * found.n, (token + 1) * found.n));
    this.explain(token === null ? null : forcesOf(this.field, frame, token));
    if (!this.visible) return;
    this.prepare(found.bins, found.matrix);
    this.describe(found, run.moment(player.frame));
    this.draw();
  }

  /** Why the selected token moves: a list here, arrows on the stage. */
  private explain(forces: Forces | null): void {
    const labels = this.explorer.labels;
    const heads = this.field?.heads.length ?? 1;
    this.why.replaceChildren(...(forces === null ? [] : forceList(forces, heads, (i) => labels[i] ?? `token ${i}`)));
    this.forcesChanged(forces);
  }

  private showHeads(): void {
    const { count } = this;
    this.head = Math.max(0, Math.min(this.head, count - 1));
    this.heads.replaceChildren();
    if (count < 2) return;
    for (let h = 0; h < count; h++) {
      const button = element("button", { type: "button", "aria-pressed": String(h === this.head) }, `Head ${h + 1}`);
      button.addEventListener("click", () => {
        this.head = h;
        this.showHeads();
        void this.load();
      });
      this.heads.append(button);
    }
  }

  /** Ask for the matrix of the frame at rest, once. */
  async load(): Promise<void> {
    const { run, player } = this.explorer;
    this.follow();
    if (run === null || run.done === null || player.playing || SITE !== undefined || this.count === 0) return;
    if (!this.live) void this.loadRow();
    const key = [run.accepted.run, player.frame, this.head, this.order.value].join("/");
    if (!this.visible || key === this.shown) return;
    this.fetching.abort();
    this.fetching = new AbortController();
    try {
      const answer = await attention(run.accepted.run, player.frame, this.head, this.order.value, this.fetching.signal);
      if (run !== this.explorer.run) return;
      this.answer = answer;
      this.shown = key;
      this.prepare(answer.bins, decodeFloats(answer.values));
      this.describe(answer, run.moment(player.frame));
      this.draw();
    } catch (error) {
      if ((error as Error).name !== "AbortError") say(this.facts, `No matrix: ${(error as Error).message}.`);
    }
  }

  private prepare(bins: number, values: Float32Array): void {
    this.reveal(true);
    const image = (this.image ??= document.createElement("canvas"));
    image.width = image.height = bins;
    const context = image.getContext("2d", { willReadFrequently: true });
    if (context === null) return;
    const pixels = context.createImageData(bins, bins);
    const top = paintMatrix(values, bins, pixels.data);
    context.putImageData(pixels, 0, 0);
    this.showScale(top);
  }

  /** Colours by the square root: the middle of the bar is a quarter of its end. */
  private showScale(top: number): void {
    const bar = element("span", { class: "scalebar", "aria-hidden": "true" });
    bar.style.background = `linear-gradient(to right, ${[0, 0.2, 0.4, 0.6, 0.8, 1].map((x) => rgbToCss(ramp(x))).join()})`;
    this.scale.replaceChildren("0 ", bar, ` ${compactNumber(top, 2)}, the middle ${compactNumber(top / 4, 2)}`);
  }

  private describe(answer: Omit<AttentionAnswer, "values">, moment: string): void {
    const mean = answer.entropy.reduce((a, b) => a + b, 0) / Math.max(1, answer.entropy.length);
    const playing = this.explorer.player.playing || this.live;
    const rank = answer.rank === null ? (playing ? "" : "effective rank not computed for so many tokens, ") : `effective rank ${compactNumber(answer.rank, 3)}, `;
    const binned = answer.binned ? ` Binned: ${answer.n} tokens in ${answer.bins} rows.` : "";
    say(this.facts, `At ${moment}: ${rank}mean row entropy ${compactNumber(mean, 3)} of at most ${compactNumber(Math.log(answer.n), 3)}.${binned}`);
    this.canvas.setAttribute("aria-label", `Attention matrix, ${answer.n} by ${answer.n}, ordered by ${this.order.value}. Rows look at columns.`);
    this.leaders.replaceChildren();
    if (this.explorer.player.playing || SITE !== undefined) return;
    if (answer.leaders.length === 0) return;
    this.leaders.append("Leaders, to whom some token pays more than half of its attention: ");
    for (const token of answer.leaders.slice(0, 12)) {
      const button = element("button", { type: "button", class: "chip" }, String(token));
      button.setAttribute("aria-label", `Select leader, token ${token}`);
      button.addEventListener("click", () => this.explorer.select(token));
      this.leaders.append(button);
    }
    if (answer.leaders.length > 12) this.leaders.append(` and ${answer.leaders.length - 12} more`);
  }

  private selected(): void {
    if (this.live) return this.follow();
    this.setRow(null);
    this.draw();
    void this.loadRow();
  }

  private async loadRow(): Promise<void> {
    const { run, player, state } = this.explorer;
    const token = state.view.selected;
    if (run === null || run.done === null || token === null || player.playing || SITE !== undefined || this.count === 0) return;
    this.rowFetching.abort();
    this.rowFetching = new AbortController();
    try {
      const frame = player.frame;
      const { values, moved } = await attentionRow(run.accepted.run, frame, token, this.head, this.rowFetching.signal);
      this.setRow(Float32Array.from(values), moved === true);
      if (moved === true) say(this.why, movedInWords(values, frame, token));
    } catch (error) {
      if ((error as Error).name !== "AbortError") this.setRow(null);
    }
  }

  private setRow(row: Float32Array | null, moved = false): void {
    if (row === null && this.row === null) return;
    this.row = row;
    this.rowChanged(row, moved);
  }

  private place(event: MouseEvent): ReturnType<typeof cellAt> {
    if (this.answer === null) return null;
    const box = this.canvas.getBoundingClientRect();
    return cellAt(event.clientX - box.left, event.clientY - box.top, Math.min(box.width, box.height), this.answer);
  }

  private hover(event: PointerEvent): void {
    const cell = this.place(event);
    this.canvas.title = cell === null ? "" : `token ${cell.token}: click to select`;
  }

  private click(event: MouseEvent): void {
    const cell = this.place(event);
    if (cell !== null) this.explorer.select(cell.token);
  }

  draw(): void {
    const paper = freshPaper(this.canvas);
    if (paper === null || this.answer === null || this.image === null) return;
    const side = Math.min(paper.width, paper.height);
    paper.context.imageSmoothingEnabled = false;
    paper.context.drawImage(this.image, 0, 0, side, side);
    this.drawSelection(paper.context, side);
    this.drawEntropy();
  }

  private drawSelection(context: CanvasRenderingContext2D, side: number): void {
    const answer = this.answer as Omit<AttentionAnswer, "values">;
    const token = this.explorer.state.view.selected;
    if (token === null) return;
    const place = answer.order.indexOf(token);
    if (place < 0) return;
    const cell = side / answer.bins;
    const y = Math.floor((place / answer.n) * answer.bins) * cell;
    context.strokeStyle = "#ffffff";
    context.lineWidth = 2;
    context.strokeRect(1, y, side - 2, Math.max(2, cell));
    context.strokeRect(y, 1, Math.max(2, cell), side - 2);
  }

  /** Row entropies in the order of the matrix, as bars below it. */
  private drawEntropy(): void {
    const paper = freshPaper(this.curve);
    const answer = this.answer;
    if (paper === null || answer === null) return;
    const { context, width, height } = paper;
    const theme = this.theme();
    const top = Math.max(1e-9, Math.log(answer.n));
    context.fillStyle = theme.series.largest;
    const wide = width / answer.n;
    answer.order.forEach((token, place) => {
      const h = ((answer.entropy[token] ?? 0) / top) * (height - 16);
      context.fillRect(place * wide, height - h, Math.max(0.6, wide - (wide > 4 ? 1 : 0)), h);
    });
    context.fillStyle = theme.muted;
    context.font = `12px ${FONT}`;
    context.textBaseline = "top";
    context.fillText("row entropy", 0, 0);
  }
}
