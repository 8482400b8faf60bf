/** The explorer: one state, one run, one play head; panels listen and ask. */
import { clampState, type Clamp } from "./clamp";
import type { Frame } from "./frames";
import { Player } from "./player";
import { jump } from "./plateaus";
import { Run, type Accepted, type Done } from "./run";
import { RunSocket } from "./socket";
import { defaultState, type State, type View } from "./state";

export interface Events {
  /** The state or the view changed. */
  state: () => void;
  /** The first frame of a new run is here. */
  run: (run: Run) => void;
  /** More frames came. */
  frames: () => void;
  done: (run: Run) => void;
  /** The head moved. */
  moment: () => void;
  /** The head came to rest on a frame. */
  rest: () => void;
  selected: () => void;
  notice: (lines: string[]) => void;
  clamped: (clamped: Clamp[]) => void;
  playing: () => void;
}

type Listeners = { [K in keyof Events]: Events[K][] };
const REST = 160;

export class Explorer {
  state: State = defaultState();
  run: Run | null = null;
  waiting: string | null = "Connecting to the server.";
  readonly player = new Player();
  private readonly socket: RunSocket;
  /** Another run was asked for and has not sent a frame yet: what is shown is the one before. */
  pending = true;
  private coming: Run | null = null;
  private pendingView: Partial<View> | null = null;
  private held = false;
  private restTimer = 0;
  private runTimer = 0;
  private readonly listeners: Listeners = {
    state: [], run: [], frames: [], done: [], moment: [], rest: [], selected: [], notice: [], clamped: [], playing: [],
  };

  constructor(url: string, private readonly autoplay: () => boolean) {
    this.socket = new RunSocket(url, {
      accepted: (id, accepted, clamped) => this.accept(id, accepted, clamped),
      frame: (frame) => this.receive(frame),
      progress: (_id, t, fraction) => this.coming && this.wait(`Computing: t = ${Number(t.toPrecision(4))}, ${Math.round(100 * fraction)} %.`),
      done: (_id, done) => this.finish(done),
      error: (_id, argument, message, fix) => this.fail(argument, message, fix),
      link: (up) => (up ? undefined : this.wait("The server does not answer; trying again.")),
    });
  }

  on<K extends keyof Events>(event: K, listener: Events[K]): void {
    this.listeners[event].push(listener);
  }

  emit<K extends keyof Events>(event: K, ...values: Parameters<Events[K]>): void {
    for (const listener of this.listeners[event]) (listener as (...args: Parameters<Events[K]>) => void)(...values);
  }

  connect(): void {
    this.socket.connect();
  }

  /** Take a whole state (a link, a preset, a story step) and run it. */
  load(asked: unknown, delay = 0): void {
    const { state, clamped } = clampState(asked);
    this.state = state;
    this.pendingView = { frame: state.view.frame, selected: state.view.selected };
    if (clamped.length > 0) this.emit("clamped", clamped);
    this.emit("state");
    this.start(delay);
  }

  /** Change what is simulated: the view stays, hand-moved tokens stay while they fit. */
  change(patch: Partial<State>, delay = 180): void {
    const merged: Record<string, unknown> = { ...this.state, preset: null, ...patch };
    const resized = (patch.n !== undefined && patch.n !== this.state.n) || (patch.d !== undefined && patch.d !== this.state.d);
    if (resized || "init" in patch || "seed" in patch) merged["moved"] = patch.moved ?? [];
    if (merged["model"] === "recorded" && !("file" in patch)) Object.assign(merged, { model: "sa", file: null });
    if (patch.d !== undefined && Array.isArray(merged["V"])) merged["V"] = null;
    const { state, clamped } = clampState(merged);
    this.state = { ...state, view: { ...this.state.view, frame: null } };
    if (this.state.view.selected !== null && this.state.view.selected >= state.n) this.state.view.selected = null;
    this.pendingView = { selected: this.state.view.selected };
    if (clamped.length > 0) this.emit("clamped", clamped);
    this.emit("state");
    this.start(delay);
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
      const { view: _view, ...spec } = this.state;
      this.socket.run(spec);
      this.wait("Asking the server for this run.");
    }, delay) as unknown as number;
  }

  stop(): void {
    this.socket.stop();
  }

  private wait(sentence: string | null): void {
    this.waiting = sentence;
    this.emit("moment");
  }

  private accept(id: number, accepted: Accepted, clamped: Clamp[]): void {
    const { state } = clampState({ ...accepted.state, view: this.state.view });
    this.state = { ...state, preset: this.state.preset };
    this.coming = new Run(id, accepted, this.state);
    if (clamped.length > 0) this.emit("clamped", clamped);
    this.emit("state");
    this.wait("Computing the run.");
  }

  private receive(frame: Frame): void {
    const target = this.coming ?? this.run;
    if (target === null || target.id !== frame.id || !target.add(frame)) return;
    if (target === this.coming) this.adopt(target);
    this.emit("frames");
    const asked = this.pendingView?.frame;
    if (asked !== undefined && asked !== null && target.last >= asked) {
      delete this.pendingView?.frame;
      this.goto(asked);
    }
  }

  private adopt(run: Run): void {
    this.coming = null;
    this.pending = false;
    this.run = run;
    this.waiting = null;
    const frameAsked = this.pendingView?.frame !== undefined && this.pendingView.frame !== null;
    this.player.seek(0, 0);
    this.player.playing = !frameAsked && this.autoplay();
    this.emit("run", run);
    this.emit("playing");
    this.emit("moment");
  }

  private finish(done: Done): void {
    const run = this.run;
    if (run === null) return;
    run.finish(done);
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
