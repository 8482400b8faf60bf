/** The animation loop, and everything that follows the play head. */
import { alternative, honesty, kindInWords, runInWords, statusSentence } from "./words";
import { byId, debounce, element, say, seldom } from "./dom";
import { equationOf, lettersOf } from "./equation";
import type { Explorer } from "./explorer";
import type { Legend } from "./legend";
import { Meter } from "./player";
import type { Beside } from "./panels/beside";
import type { Ribbon } from "./ribbon";
import type { Stage } from "./stage/stage";
import { stageNote } from "./notes";
import { axisOf, colorOf, type Axis } from "./state";
import { nextTheme, type Theme } from "./theme";

interface Parts {
  beside: Beside;
  explorer: Explorer;
  stage: Stage;
  ribbon: Ribbon;
  legend: Legend;
  theme: () => Theme;
}

const CURVES_EVERY = 120;

export function startLoop(parts: Parts): void {
  const { explorer, stage, ribbon } = parts;
  const meter = new Meter();
  let before = performance.now();
  let curvesAt = 0;
  let curvesStale = false;
  explorer.on("frames", () => (curvesStale = true));
  wireRun(parts);
  wireTheme(parts);
  wireWords(parts);
  const turn = (now: number): void => {
    requestAnimationFrame(turn);
    const seconds = Math.min(0.1, (now - before) / 1000);
    explorer.tick(seconds);
    if (explorer.player.playing) stage.drift(seconds);
    before = now;
    if (curvesStale && now - curvesAt > CURVES_EVERY) {
      curvesStale = false;
      curvesAt = now;
      ribbon.update();
      if ((explorer.run?.accepted.d ?? 3) <= 2) stage.refresh();
    }
    const begun = performance.now();
    if (stage.render()) {
      mark(parts);
      meter.mark(now, performance.now() - begun);
    }
    parts.beside.render();
  };
  requestAnimationFrame(turn);
  debugHandle(explorer, stage, ribbon, meter);
}

let marked = "";

/** After a drawing: what tests and people read off the stage; once per whole frame. */
function mark({ explorer, stage, legend, theme }: Parts): void {
  const { run, player, state } = explorer;
  if (run === null) return;
  const key = [run.accepted.run, run.count, player.frame, colorOf(state), state.view.marks, state.view.projection, theme().dark, run.done !== null].join();
  if (key === marked) return;
  marked = key;
  const data = stage.host.dataset;
  data["ready"] = "1";
  if (!run.preview) data["run"] = run.accepted.run;
  data["preview"] = String(run.preview);
  data["frame"] = String(player.frame);
  data["frames"] = String(run.count);
  legend.show(run.accepted.density ? "density" : colorOf(state), stage.endShares, run.slots, theme(), state.view.marks === "shapes", run.done !== null);
  say(byId("note"), stageNote(run.accepted, state.view.projection, stage.kept, stage.enlarged));
}

function wireRun({ explorer, ribbon, stage }: Parts): void {
  let first = true;
  explorer.on("run", (run) => {
    const build = (): void => {
      if (explorer.run !== run) return;
      ribbon.setRun(run, axisOf(explorer.state));
      ribbon.show(explorer.player.position);
    };
    // The very first picture does not wait for the curves.
    if (first) requestAnimationFrame(() => setTimeout(build));
    else build();
    first = false;
  });
  explorer.on("done", () => {
    ribbon.update();
    stage.refresh();
  });
  explorer.on("moment", () => {
    stage.show(explorer.player.position);
    ribbon.show(explorer.player.position, explorer.player.playing);
  });
  const axis = byId<HTMLSelectElement>("axis");
  axis.addEventListener("change", () => explorer.view({ axis: axis.value as Axis }));
  let shown: Axis = axisOf(explorer.state);
  explorer.on("state", () => {
    axis.value = axisOf(explorer.state);
    if (explorer.run === null || shown === axis.value) return;
    shown = axis.value as Axis;
    ribbon.setRun(explorer.run, shown);
    ribbon.show(explorer.player.position);
  });
}

function wireTheme({ explorer, ribbon, theme }: Parts): void {
  const button = byId("theme");
  let applied: Theme | null = null;
  const apply = (): void => {
    const { theme: choice } = explorer.state.view;
    document.documentElement.dataset["theme"] = choice;
    const now = theme();
    say(button, now.dark ? "Light" : "Dark");
    if (applied === now) return;
    applied = now;
    ribbon.setTheme(now);
    ribbon.show(explorer.player.position);
  };
  button.addEventListener("click", () => explorer.view({ theme: nextTheme(explorer.state.view.theme) }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => explorer.emit("state"));
  explorer.on("state", apply);
  apply();
}

/** A long equation is written smaller, as far as it can be read. */
function fitEquation(): void {
  const box = byId("equation");
  box.style.fontSize = "";
  if (box.scrollWidth <= box.clientWidth) return;
  box.style.fontSize = `${Math.max(0.76, (1.02 * box.clientWidth) / box.scrollWidth)}rem`;
}

function wireWords({ explorer }: Parts): void {
  const status = (): void => {
    const { run, waiting, player } = explorer;
    const node = byId("status");
    node.dataset["kind"] = run?.done && waiting === null ? kindInWords(run.done.outcome.kind) : waiting !== null ? "" : "running";
    say(node, statusSentence(run, waiting, player));
  };
  const speak = debounce(400, () => {
    const { run, player, state } = explorer;
    if (run !== null && !player.playing) say(byId("alt"), alternative(run, player.frame, state.view.selected));
  });
  const due = seldom();
  explorer.on("moment", () => {
    if (due(explorer.player.playing)) status();
    speak();
  });
  let typeset = "";
  byId("equation-box").addEventListener("toggle", fitEquation);
  explorer.on("state", () => {
    const { view: _view, moved: _moved, preset: _preset, ...run } = explorer.state;
    const field = explorer.accepted?.field ?? null;
    const key = JSON.stringify([run, field, explorer.accepted?.known]);
    if (key === typeset) return;
    typeset = key;
    byId("equation").replaceChildren(equationOf(explorer.state, field, explorer.accepted?.known != null));
    say(byId("equation-words"), lettersOf(explorer.state));
    fitEquation();
  });
  explorer.on("selected", speak);
  explorer.on("run", (run) => {
    if (!run.preview) say(byId("words"), run.accepted.words ?? runInWords(run.state));
    say(byId("alt"), "");
    byId("honesty").replaceChildren();
  });
  explorer.on("playing", status);
  explorer.on("done", (run) => {
    if (run.done !== null) byId("honesty").replaceChildren(...honesty(run, run.done).map((text) => element("li", {}, text)));
  });
}

/** For tests and for the curious: `pushforward.numbers(10)` in the console. */
function debugHandle(explorer: Explorer, stage: Stage, ribbon: Ribbon, meter: Meter): void {
  const handle = {
    state: () => structuredClone(explorer.state),
    frame: () => explorer.player.frame,
    frames: () => explorer.run?.count ?? 0,
    numbers: (k: number) => explorer.run?.numbers(k) ?? null,
    plateaus: () => [...(explorer.run?.plateaus ?? [])],
    complete: () => !explorer.pending && explorer.run?.done != null,
    select: (i: number | null) => explorer.select(i),
    goto: (k: number) => explorer.goto(k),
    place: (i: number) => stage.place(i),
    camera: () => stage.orbit.camera,
    front: (i: number) => stage.place(i)?.front ?? false,
    points: (k: number) => {
      const frame = explorer.run?.frames[k];
      return frame === undefined ? null : Array.from({ length: frame.n }, (_, i) => [...frame.points.subarray(i * frame.dshow, (i + 1) * frame.dshow)]);
    },
    curves: () => ribbon.curves,
    labels: () => [...explorer.labels],
    enlarged: () => stage.enlarged,
    row: () => (stage.look.row === null ? null : Array.from(stage.look.row)),
    fps: () => meter.rate,
    cost: () => meter.cost,
  };
  (globalThis as unknown as { pushforward: typeof handle }).pushforward = handle;
}
