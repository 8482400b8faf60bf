/** The explorer: one state, one run, one play head; panels listen and ask. */
import { Announcer } from "./events";
import type { Frame } from "./frames";
import type { Clamp } from "./notices";
import { Player } from "./player";
import { jump } from "./plateaus";
import { Run, type Accepted, type Done } from "./run";
import type { SocketEvents, Source } from "./socket";
import { Preview, previewAccepted, previewOf } from "./sources/preview";
import { defaultState, shaped, type Asked, type State, type View } from "./state";

const REST = 160;

export const wordsOf = (sentence: string | null): string[] => (sentence ?? "").split(/\s+/).filter((word) => word !== "");

export class Explorer extends Announcer {
  state: State = defaultState();
  /** The last answer of the server: what a link is made of. */
  accepted: Accepted | null = null;
  /** What the server is asked for; `state` shows it until the answer says what became of it. */
  private asked: Asked = {};
  run: Run | null = null;
  waiting: string | null = "Connecting to the server.";
  readonly player = new Player();
  private readonly source: Source;
  /** Another run was asked for and has not sent a frame yet: what is shown is the one before. */
  pending = true;
  private coming: Run | null = null;
  private pendingView: Partial<View> | null = null;
  /** The time of the head when a control was moved: the next run is shown there. */
  private kept: { t: number; playing: boolean } | null = null;
  private readonly preview = new Preview((frame) => this.previewed(frame));
  private previewId = 0;
  /** How much of the next run is computed, where the server says so. */
  fraction: number | null = null;
  private held = false;
  private restTimer = 0;
  private runTimer = 0;

  constructor(open: (events: SocketEvents) => Source, private readonly autoplay: () => boolean) {
    super();
    this.source = open({
      accepted: (id, accepted, clamped) => this.accept(id, accepted, clamped),
      frame: (frame) => this.receive(frame),
      progress: (_id, t, fraction) => this.computing(t, fraction),
      done: (id, done) => this.finish(id, done),
      error: (_id, argument, message, fix) => this.fail(argument, message, fix),
      link: (up) => (up ? undefined : this.wait("The server does not answer; trying again.")),
    });
  }

  connect(): void {
    this.source.connect();
  }

  /** Take a whole state (a link, a preset, a story step) and run it. */
  load(asked: Asked, delay = 0): void {
    this.asked = asked;
    this.state = shaped(asked);
    this.pendingView = { frame: this.state.view.frame, selected: this.state.view.selected };
    this.kept = null;
    this.emit("state");
    this.start(delay);
  }

  /** Change what is simulated: the view stays, hand-moved tokens stay while they fit. */
  change(patch: Partial<State>, delay = 180): void {
    const merged: Asked = { ...(this.pending ? this.asked : this.state), preset: null, ...patch };
    const resized = (patch.n !== undefined && patch.n !== this.state.n) || (patch.d !== undefined && patch.d !== this.state.d);
    if (resized || "init" in patch || "seed" in patch) merged["moved"] = patch.moved ?? [];
    const measured = Object.keys(patch).every((key) => key === "beta"); // of what is recorded beta changes the energy
    if (this.state.model === "recorded" && !("file" in patch) && !measured) Object.assign(merged, { model: "sa", file: null });
    if ("model" in patch) merged["experiment"] = null;
    if (patch.d !== undefined && Array.isArray(merged["V"])) merged["V"] = null;
    this.asked = merged;
    this.state = { ...shaped({ ...this.state, ...merged }), view: { ...this.state.view, frame: null } };
    if (this.state.view.selected !== null && this.state.view.selected >= this.state.n) this.state.view.selected = null;
    this.pendingView = { selected: this.state.view.selected };
    this.keepTime("moved" in patch);
    this.emit("state");
    this.start(delay);
    this.startPreview();
  }

  /** A token is moved at its start; with everything else the head stays where it is in time. */
  private keepTime(fromStart: boolean): void {
    const frame = this.run?.frames[this.player.frame];
    if (fromStart || frame === undefined) this.kept = null;
    else if (this.player.frame > 0) this.kept ??= { t: frame.t, playing: this.player.playing };
  }

  /** Whether a key of the controls changes this run. */
  changes(key: string): boolean {
    if (this.state.model === "recorded") return key === "beta" || key === "model";
    return this.state.experiment === null || (this.accepted?.controls?.includes(key) ?? false);
  }

  /** Change only what is shown. */
  view(patch: Partial<View>): void {
    this.state = { ...this.state, view: { ...this.state.view, ...patch } };
    this.emit("state");
  }

  private start(delay: number): void {
    clearTimeout(this.runTimer);
    this.pending = true;
    this.runTimer = setTimeout(() => {
      this.runTimer = 0;
      const { view: _view, ...spec } = this.asked;
      this.source.run(spec);
      this.wait("Asking the server for this run.");
    }, delay) as unknown as number;
  }

  /** While the server is asked, the page shows what it can compute itself. */
  private startPreview(): void {
    const plan = this.run === null ? null : previewOf(this.state, this.run);
    this.previewId -= 1;
    if (plan === null) this.preview.stop();
    else this.preview.start(this.previewId, this.state, plan, this.run?.accepted.radius ?? 0.05);
  }

  private previewed(frame: Frame): void {
    if (frame.id !== this.previewId || !this.pending || this.run === null) return;
    if (this.run.id !== frame.id) this.adopt(new Run(frame.id, previewAccepted(this.state, this.run.accepted), this.state));
    if (!this.run.add(frame)) return;
    this.emit("frames");
    if (this.kept !== null) this.catchUp(this.kept);
  }

  stop(): void {
    this.source.stop();
  }

  /** A word for each token: of the sentence that was typed, or of the file; none where they do not fit. */
  get labels(): readonly string[] {
    const n = this.run?.accepted.n ?? this.state.n;
    const typed = wordsOf(this.state.view.words);
    const known = typed.length === n ? typed : (this.run?.accepted.labels ?? []);
    return known.length === n ? known : [];
  }

  private computing(t: number, fraction: number): void {
    this.fraction = fraction;
    if (this.coming) this.wait(`Computing: t = ${Number(t.toPrecision(4))}, ${Math.round(100 * fraction)} %.`);
  }

  private wait(sentence: string | null): void {
    this.waiting = sentence;
    this.emit("moment");
  }

  private accept(id: number, accepted: Accepted, clamped: Clamp[]): void {
    const state = { ...shaped(accepted.state), view: this.state.view, preset: this.state.preset };
    this.accepted = accepted;
    if (this.runTimer === 0) [this.state, this.asked] = [state, { ...state }]; // else the next question is under way
    this.coming = new Run(id, accepted, state);
    if (clamped.length > 0) this.emit("clamped", clamped);
    this.emit("state");
    this.wait("Computing the run.");
  }

  private receive(frame: Frame): void {
    const target = this.coming ?? this.run;
    if (target === null || target.id !== frame.id || !target.add(frame)) return;
    if (target === this.coming) this.adopt(target);
    this.emit("frames");
    if (this.kept !== null) this.catchUp(this.kept);
    const asked = this.pendingView?.frame;
    if (asked !== undefined && asked !== null && target.last >= asked) {
      delete this.pendingView?.frame;
      this.goto(asked);
    }
  }

  private adopt(run: Run): void {
    if (!run.preview) {
      this.coming = null;
      this.pending = false;
      this.preview.stop();
      if (this.run?.preview) this.keepHead(this.run);
    }
    this.run = run;
    this.waiting = null;
    this.fraction = null;
    const frameAsked = this.pendingView?.frame !== undefined && this.pendingView.frame !== null;
    this.player.seek(0, 0);
    this.player.playing = !frameAsked && this.kept === null && this.autoplay();
    this.emit("run", run);
    this.emit("playing");
    this.emit("moment");
  }

  /** The head of a preview is kept by the run that takes its place. */
  private keepHead(shown: Run): void {
    this.kept ??= { t: shown.frames[this.player.frame]?.t ?? 0, playing: this.player.playing };
  }

  /** The head follows the frames that come until it is where it was in time. */
  private catchUp({ t, playing }: { t: number; playing: boolean }): void {
    const run = this.run as Run;
    this.player.seek(run.last, run.last);
    if ((run.frames[run.last]?.t ?? 0) >= t || this.complete) {
      this.kept = null;
      this.player.playing = playing && !this.complete;
      this.emit("playing");
    }
    this.moved();
  }

  /** A run that is no longer shown may end too: a preview in its place is not over. */
  private finish(id: number, done: Done): void {
    const run = this.run;
    if (run === null || run.id !== id) return;
    run.finish(done);
    this.kept = null;
    this.waiting = null;
    this.emit("done", run);
    this.moved();
  }

  private fail(argument: string, message: string, fix: string): void {
    this.coming = null;
    this.pending = false;
    this.waiting = `${message} ${fix}`.trim();
    this.emit("notice", [argument ? `${argument}: ${message}` : message, fix].filter((line) => line !== ""));
    this.emit("moment");
    if (argument === "state" && this.accepted === null) this.load({}); // a link that nobody can run
  }

  get last(): number {
    return this.run?.last ?? 0;
  }

  get complete(): boolean {
    return this.run !== null && (this.run.done !== null || this.run.count === this.run.accepted.frames);
  }

  /** The head was moved by a hand, a key, a link. */
  goto(k: number): void {
    this.player.pause();
    this.player.seek(Math.round(k), this.last);
    this.emit("playing");
    this.moved();
  }

  jumpPlateau(step: 1 | -1): boolean {
    if (this.run === null) return false;
    const target = jump(this.run.plateaus, this.player.frame, step);
    if (target !== null) this.goto(target);
    return target !== null;
  }

  toggle(): void {
    if (this.player.playing) this.player.pause();
    else this.player.start(this.last, this.complete);
    this.emit("playing");
    this.moved();
  }

  play(): void {
    if (!this.player.playing) this.toggle();
  }

  /** One turn of the animation loop. */
  tick(seconds: number): void {
    const was = this.player.playing;
    if (!this.player.tick(seconds, this.last, this.complete)) return;
    if (was !== this.player.playing) this.emit("playing");
    this.moved();
  }

  private moved(): void {
    this.emit("moment");
    clearTimeout(this.restTimer);
    if (this.player.playing || this.held) return;
    this.restTimer = setTimeout(() => {
      this.state.view.frame = this.player.frame;
      this.emit("rest");
      this.emit("state");
    }, REST) as unknown as number;
  }

  /** A hand is on the play head: it does not rest, and nothing is asked, until it lets go. */
  hold(held: boolean): void {
    if (held === this.held) return;
    this.held = held;
    if (!held) this.moved();
  }

  select(token: number | null): void {
    const n = this.run?.accepted.n ?? this.state.n;
    const chosen = token === null || token < 0 || token >= n ? null : token;
    this.view({ selected: chosen });
    this.emit("selected");
  }
}
