/** The same view in a notebook: stage, ribbon and play button, from frames that are already here. */
import "./style/view.css";
import "./style/widget.css";
import { element } from "./dom";
import { parseFrame, unpackFrames } from "./frames";
import { Legend } from "./legend";
import { Player } from "./player";
import { Ribbon } from "./ribbon";
import { Run, type Accepted, type Done } from "./run";
import { Stage } from "./stage/stage";
import { stageNote } from "./notes";
import { defaultState, type ThemeChoice } from "./state";
import { prefersStill, resolveTheme } from "./theme";

interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, listener: () => void): void;
  off(event: string, listener: () => void): void;
}

interface Meta {
  n: number;
  d: number;
  frames: number;
  done?: Done;
  words?: string;
  space?: string;
}

/** A run from the binary trait; nothing is asked from anywhere. */
export function runFromTraits(bytes: DataView, meta: Meta): Run {
  const accepted: Accepted = {
    run: "notebook", state: {}, n: meta.n, d: meta.d, frames: meta.frames, python: "", command: "",
    words: meta.words ?? "", ...(meta.space ? { space: meta.space } : {}),
  };
  const run = new Run(0, accepted, { ...defaultState(), n: meta.n, d: meta.d });
  for (const buffer of unpackFrames(bytes)) if (!run.add(parseFrame(buffer))) throw new Error("the frames are out of order");
  if (meta.done !== undefined) run.finish(meta.done);
  return run;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const meta = model.get("meta") as Meta;
  const run = runFromTraits(model.get("frames") as DataView, meta);
  const theme = resolveTheme((model.get("theme") as ThemeChoice | undefined) ?? "auto");
  const stageHost = element("div");
  const legendHost = element("div", { class: "pf-legend" });
  const play = element("button", { type: "button", class: "pf-play" }, "Play");
  const scrub = element("input", { type: "range", min: "0", max: String(run.last), step: "1", "aria-label": "Frame" });
  const ribbonHost = element("div");
  const words = element("p", { class: "pf-words" });
  const root = element("div", { class: "pf-view", tabindex: "0" }, stageHost, legendHost, element("div", { class: "pf-transport" }, play, scrub), ribbonHost, words);
  root.dataset["theme"] = theme.dark ? "dark" : "light";
  stageHost.style.height = `${Number(model.get("height") ?? 520)}px`;
  el.append(root);

  const player = new Player();
  const legend = new Legend(legendHost);
  const stage = new Stage(stageHost, { select: (token) => select(token), over: () => false, grab: () => false, move: () => undefined });
  stage.still = prefersStill();
  if (meta.d === 2) stage.look.color = "start";
  const ribbon = new Ribbon(ribbonHost, (k) => seek(k));
  stage.setTheme(theme);
  stage.setRun(run);
  ribbon.setTheme(theme);
  ribbon.setRun(run, "linear");

  function select(token: number | null): void {
    stage.look.selected = token;
    stage.relight();
  }
  function show(): void {
    stage.show(player.position);
    ribbon.show(player.position);
    scrub.value = String(player.frame);
    play.textContent = player.playing ? "Pause" : "Play";
  }
  function seek(k: number): void {
    player.pause();
    player.seek(k, run.last);
    tell();
    show();
  }
  function tell(): void {
    model.set("frame", player.frame);
    model.save_changes();
  }
  function toggle(): void {
    if (player.playing) player.pause();
    else player.start(run.last, true);
    if (!player.playing) tell();
    show();
  }
  play.addEventListener("click", toggle);
  scrub.addEventListener("input", () => seek(scrub.valueAsNumber));
  root.addEventListener("keydown", (event) => {
    if (event.target !== root) return;
    if (event.key === " ") toggle();
    else if (event.key === "ArrowRight") seek(player.frame + 1);
    else if (event.key === "ArrowLeft") seek(player.frame - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  let alive = true;
  let before = performance.now();
  const turn = (now: number): void => {
    if (!alive) return;
    requestAnimationFrame(turn);
    const was = player.playing;
    if (player.tick(Math.min(0.1, (now - before) / 1000), run.last, true)) {
      show();
      if (was && !player.playing) tell();
    }
    before = now;
    if (!stage.render()) return;
    legend.show(stage.look.color, stage.shares, run.slots, theme);
    words.textContent = [meta.words, stageNote(meta, stage.look.projection, stage.kept), run.done?.outcome.sentence].filter(Boolean).join(". ");
    stageHost.dataset["ready"] = "1";
  };
  const fromPython = (): void => {
    const k = Number(model.get("frame") ?? 0);
    if (k === player.frame) return;
    player.seek(k, run.last);
    show();
  };
  model.on("change:frame", fromPython);
  player.seek(Number(model.get("frame") ?? 0), run.last);
  show();
  requestAnimationFrame(turn);
  return () => {
    alive = false;
    model.off("change:frame", fromPython);
    stage.dispose();
    ribbon.dispose();
    root.remove();
  };
}

export default { render };
