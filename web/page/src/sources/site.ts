/** A page without a server: runs recorded beside it, and everything else computed here. */
import type { PhaseAnswer, Preset } from "../api";
import { parseFrame, unpackFrames, type Frame } from "../frames";
import type { Field } from "../physics/field";
import { uniformTokens } from "../physics/normals";
import type { Accepted, Done } from "../run";
import type { SocketEvents, Source } from "../socket";
import { defaultState, shaped, type Asked, type State } from "../state";
import { fieldOf, Preview, timesOf } from "./preview";

export interface Recorded {
  accepted: Accepted;
  done: Done;
  /** As a preset or a step of the story asks for it. */
  asked?: Asked;
}

/** What `pushforward site` and `pushforward export --html` write beside the page. */
export interface Site {
  presets: Preset[];
  runs: Record<string, Recorded>;
  phases: Record<string, PhaseAnswer>;
  /** Frames by run, compressed, in base64; those that are not here have a script of their own. */
  frames: Record<string, string>;
  /** The run to open with. */
  first: string;
}

/** The site that this page is part of; undefined where a server answers. */
export const SITE = (globalThis as unknown as { PUSHFORWARD?: Site }).PUSHFORWARD;
const USUAL_RADIUS = 0.05;
const FAR = "This page has no server: it shows recorded runs and computes plain attention itself.";

/** Everything that decides a run, in one order. */
function key(asked: Asked): string {
  const { view: _view, preset: _preset, ...run } = shaped(asked);
  const usual = defaultState() as unknown as Asked;
  return JSON.stringify(Object.keys(usual).map((name) => (run as unknown as Asked)[name] ?? null));
}

async function unpacked(text: string): Promise<Frame[]> {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  const whole = await new Response(stream).arrayBuffer();
  return unpackFrames(new DataView(whole)).map(parseFrame);
}

/** A script that adds its frames: the only way that works from a folder, too. */
function script(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const node = document.createElement("script");
    node.src = `data/${name}.js`;
    node.onload = () => resolve();
    node.onerror = () => reject(new Error(`data/${name}.js is not there`));
    document.head.append(node);
  });
}

/** The run as a program; what the options of the library do not say is opened by the command under Export. */
export function pythonOf(state: State): string {
  const plain = state.V === null && state.moved.length === 0 && state.norm === "post" && state.perceptron === 0 && state.weights === "equal" && state.clock === "linear" && state.init !== "file";
  if (!plain || state.solver === "heun") return "# pushforward explore --state ... (the command below) opens this run and prints its Python.\n";
  const layers = state.solver === "layers" ? `, layers=${state.h}` : "";
  const more = (["heads", "noise"] as const).filter((name) => state[name] !== defaultState()[name]).map((name) => `, ${name}=${state[name]}`).join("");
  return `from pushforward.experiments import options

experiment = options(
    n=${state.n}, d=${state.d}, beta=${state.beta}, t1=${state.t1}, model="${state.model}",
    start="${state.init}", seed=${state.seed}, frames=${state.frames}${layers}${more}${state.merge ? ", merge=True" : ""},
)
trajectory = experiment.run()
print(trajectory.outcome)
for name, values in trajectory.observed.items():
    print(name, values[-1])
`;
}

export class SiteSource implements Source {
  private readonly names = new Map<string, string>();
  private latest = 0;
  private sent = 0;
  private planned = 0;
  private readonly preview = new Preview((frame) => this.previewed(frame));

  constructor(private readonly site: Site, private readonly events: SocketEvents) {
    for (const [name, { accepted, asked }] of Object.entries(site.runs)) {
      for (const state of [accepted.state, asked ?? accepted.state]) this.names.set(key(state), name);
    }
  }

  connect(): void {
    this.events.link(true);
  }

  run(asked: Asked): number {
    const id = ++this.latest;
    this.preview.stop();
    const name = this.names.get(key(asked));
    if (name !== undefined) void this.replay(id, name);
    else void this.compute(id, shaped(asked));
    return id;
  }

  stop(): void {
    this.preview.stop();
  }

  private async framesOf(name: string): Promise<Frame[]> {
    if (this.site.frames[name] === undefined) await script(name);
    return unpacked(this.site.frames[name] as string);
  }

  private async replay(id: number, name: string): Promise<void> {
    const { accepted, done } = this.site.runs[name] as Recorded;
    try {
      const frames = await this.framesOf(name);
      if (id !== this.latest) return;
      this.events.accepted(id, { ...accepted, experiment: null }, []); // a link here holds the keys of the state
      for (const frame of frames) this.events.frame({ ...frame, id });
      this.events.done(id, done);
    } catch (error) {
      if (id === this.latest) this.events.error(id, "run", (error as Error).message, "Copy the whole folder.");
    }
  }

  /** A recorded run that begins with the same tokens. */
  private sameStart(state: State): string | undefined {
    const like = ({ accepted }: Recorded): boolean => {
      const other = shaped(accepted.state);
      return other.moved.length === 0 && (["n", "d", "init", "seed", "weights", "file"] as const).every((name) => other[name] === state[name]);
    };
    return Object.keys(this.site.runs).find((name) => like(this.site.runs[name] as Recorded));
  }

  private async startOf(state: State): Promise<Frame | null> {
    const name = this.sameStart(state);
    if (name !== undefined) return (await this.framesOf(name))[0] ?? null;
    if (state.init !== "uniform" || state.weights !== "equal") return null;
    const points = Float32Array.from(uniformTokens(state.n, state.d, state.seed));
    return { n: state.n, dshow: state.d, points, mass: null } as unknown as Frame;
  }

  private async compute(id: number, state: State): Promise<void> {
    const first = await this.startOf(state);
    if (id !== this.latest) return;
    const field = first === null ? null : fieldOf(state, first);
    if (first === null || field === null || state.merge) {
      return this.events.error(id, "state", FAR, "For this run: pip install 'pushforward[web]', then the command under Export.");
    }
    const start = Float64Array.from(first.points);
    for (const [i, point] of state.moved) point.forEach((value, c) => (start[i * state.d + c] = value));
    this.begin(id, state, { field, start });
  }

  private begin(id: number, state: State, plan: { field: Field; start: Float64Array }): void {
    this.sent = 0;
    this.planned = timesOf(state).length;
    const drawn = this.sameStart(state) === undefined ? " The start was drawn here, not by the library." : "";
    this.events.accepted(id, {
      run: `here-${id}`, state: { ...state }, experiment: null, n: state.n, d: state.d, frames: this.planned, space: state.d === 2 ? "circle" : "sphere",
      radius: USUAL_RADIUS, python: pythonOf(state), command: "", words: `Computed in this page.${drawn}`,
    }, []);
    this.preview.start(id, state, plan, USUAL_RADIUS);
  }

  private previewed(frame: Frame): void {
    if (frame.id !== this.latest) return;
    this.events.frame(frame);
    if (++this.sent < this.planned) return;
    this.events.done(frame.id, {
      outcome: { kind: "reached", sentence: `t = ${frame.t}, computed in this page.` }, steps: 0, rejected: 0, norm_drift: 0,
      dtype: "float64", seconds: 0,
    });
  }
}
