/** The stage on the page: its selects, its buttons, and what hands on it do. */
import { byId, debounce } from "./dom";
import type { Explorer } from "./explorer";
import { notice } from "./notices";
import { compactNumber } from "./numbers";
import { Stage } from "./stage/stage";
import { asGiven, axisOf, colorOf, type ColorMode, type Marks, type Moved, type Projection } from "./state";
import { prefersStill, type Theme } from "./theme";

const TURN = 0.18;

/** The list of hand-moved tokens with one more. */
export function withMoved(moved: readonly Moved[], token: number, point: number[]): Moved[] {
  return [...moved.filter(([i]) => i !== token), [token, point]];
}

/** Turn a start by small angles: along the first two axes, then up. Unit length is kept. */
export function nudged(point: readonly number[], dx: number, dy: number): number[] {
  const [c, s] = [Math.cos(dx), Math.sin(dx)];
  const [x, y, z] = [point[0] ?? 1, point[1] ?? 0, point[2] ?? 0];
  const turned = [c * x - s * y, s * x + c * y];
  if (point.length === 2) return turned;
  const flat = Math.hypot(turned[0] as number, turned[1] as number);
  const height = Math.min(1.5, Math.max(-1.5, Math.atan2(z, flat) + dy));
  const scale = flat > 1e-9 ? Math.cos(height) / flat : 0;
  return [(turned[0] as number) * scale || Math.cos(height), (turned[1] as number) * scale, Math.sin(height)];
}

export function openStage(explorer: Explorer, theme: () => Theme): Stage {
  const stage = new Stage(byId("stage"), {
    select: (token) => explorer.select(token),
    over: () => (explorer.run?.accepted.n ?? Infinity) <= MOST_TAKEN && movable(explorer),
    grab: () => mayMove(explorer),
    move: (token, point, final) => {
      if (final) explorer.change({ moved: movedNow(explorer, token, point) }, 0);
    },
    turned: (camera) => {
      aimed = camera.join();
      remember();
    },
  });
  const remember = debounce(300, () => explorer.view({ camera: stage.orbit.camera }));
  stage.canvas.setAttribute("role", "img");
  stage.canvas.setAttribute("aria-label", "Tokens, drawn; described in words below the ribbon");
  stage.still = prefersStill();
  stage.setTheme(theme());
  wireSelects(explorer, stage);
  wireButtons(stage);
  explorer.on("run", (run) => {
    stage.setRun(run);
    stage.labels = explorer.labels;
    stage.arrows = null;
    byId("projection-field").hidden = run.accepted.d <= 3;
    byId<HTMLInputElement>("token").max = String(run.accepted.n - 1);
  });
  explorer.on("state", () => follow(explorer, stage, theme));
  explorer.on("selected", () => stage.relight());
  return stage;
}

/** With more tokens than this a drag turns the sphere, and shift takes a token. */
const MOST_TAKEN = 256;

/** Tokens of the circle and the sphere can be taken, at any time. */
function movable({ run }: Explorer): boolean {
  return run !== null && run.accepted.d <= 3 && run.state.model !== "recorded" && !asGiven(run.state) && run.accepted.space !== "euclidean";
}

export function mayMove(explorer: Explorer): boolean {
  if (!movable(explorer)) {
    notice(["Tokens can be moved by hand on the circle and on the sphere only."], "warning");
    return false;
  }
  if (explorer.player.playing) explorer.toggle();
  return true;
}

/** The start of a run with one token moved: at t > 0 all tokens start where they are now. */
export function movedNow(explorer: Explorer, token: number, point: number[]): Moved[] {
  const frame = explorer.run?.frames[explorer.player.frame];
  if (frame === undefined || explorer.player.frame === 0) return withMoved(explorer.state.moved, token, point);
  notice([`A new run begins here: with the tokens as they were at t = ${compactNumber(frame.t)}, and one of them moved.`]);
  const at = (i: number): number[] => [...frame.points.subarray(i * frame.dshow, (i + 1) * frame.dshow)].map((x) => Number(x.toPrecision(9)));
  return Array.from({ length: frame.n }, (_, i): Moved => [i, i === token ? point : at(i)]);
}

/** How the stage is turned now, by a hand or by a link. */
let aimed = "";

function follow(explorer: Explorer, stage: Stage, theme: () => Theme): void {
  const { view } = explorer.state;
  const { look } = stage;
  const labels = explorer.labels;
  if (labels.join() !== stage.labels.join()) {
    stage.labels = labels;
    stage.refresh();
  }
  const now = theme();
  const asked = { color: colorOf(explorer.state), projection: view.projection, axis: axisOf(explorer.state), shapes: view.marks === "shapes" };
  const changed = Object.entries(asked).some(([key, value]) => look[key as keyof typeof asked] !== value);
  Object.assign(look, asked);
  const camera = view.camera?.join() ?? "";
  if (camera !== aimed && explorer.pending) {
    aimed = camera;
    stage.aim(view.camera);
  }
  if (look.selected !== view.selected) {
    look.selected = view.selected;
    look.row = null;
    stage.relight();
  }
  if (look.theme !== now) stage.setTheme(now);
  else if (changed) stage.refresh();
  byId<HTMLSelectElement>("color").value = asked.color;
  byId<HTMLSelectElement>("projection").value = view.projection;
  byId<HTMLSelectElement>("marks").value = view.marks;
  byId("places-field").hidden = view.projection !== "axes" || (explorer.run?.accepted.d ?? 3) <= 3;
  const token = byId<HTMLInputElement>("token");
  if (document.activeElement !== token) token.value = view.selected === null ? "" : String(view.selected);
}

function wireSelects(explorer: Explorer, stage: Stage): void {
  const color = byId<HTMLSelectElement>("color");
  color.addEventListener("change", () => explorer.view({ color: color.value as ColorMode }));
  const marks = byId<HTMLSelectElement>("marks");
  marks.addEventListener("change", () => explorer.view({ marks: marks.value as Marks }));
  const projection = byId<HTMLSelectElement>("projection");
  projection.addEventListener("change", () => explorer.view({ projection: projection.value as Projection }));
  const places = byId<HTMLInputElement>("places");
  places.addEventListener("change", () => {
    const numbers = (places.value.match(/\d+/g) ?? []).map((text) => Number(text) - 1);
    const most = (explorer.run?.frames[0]?.dshow ?? 3) - 1;
    const legal = [0, 1, 2].map((k) => Math.min(most, Math.max(0, numbers[k] ?? k)));
    stage.look.places = legal as [number, number, number];
    places.value = legal.map((k) => k + 1).join(" ");
    stage.refresh();
  });
  const token = byId<HTMLInputElement>("token");
  token.addEventListener("change", () => explorer.select(Number.isFinite(token.valueAsNumber) ? token.valueAsNumber : null));
}

export function turnStage(stage: Stage, direction: string): void {
  const turns: Record<string, () => void> = {
    left: () => stage.orbit.turn(-TURN, 0),
    right: () => stage.orbit.turn(TURN, 0),
    up: () => stage.orbit.turn(0, -TURN),
    down: () => stage.orbit.turn(0, TURN),
    in: () => stage.orbit.zoom(0.85),
    out: () => stage.orbit.zoom(1 / 0.85),
  };
  turns[direction]?.();
}

function wireButtons(stage: Stage): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-turn]")) {
    button.addEventListener("click", () => turnStage(stage, button.dataset["turn"] ?? ""));
  }
}
