/** What every key does. */
import type { Controls } from "./controls";
import { byId } from "./dom";
import type { Explorer } from "./explorer";
import { toggleHelp } from "./help";
import type { Shortcut } from "./keyboard";
import { dismissAll, notice } from "./notices";
import type { Presets } from "./presets";
import type { SharingPanel } from "./panels/sharing";
import type { Stage } from "./stage/stage";
import { mayMove, movedNow, nudged, turnStage } from "./staging";
import { colorOf, COLORS, type ColorMode } from "./state";
import { nextTheme } from "./theme";

interface Parts {
  explorer: Explorer;
  controls: Controls;
  presets: Presets;
  sharing: SharingPanel;
  stage: Stage;
}

const NUDGE = 0.08;
const DIRECTIONS: Readonly<Record<string, [number, number]>> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function openDetails(id: string): void {
  const details = byId<HTMLDetailsElement>(id);
  details.open = !details.open;
  details.querySelector("summary")?.focus();
}

function plateau(explorer: Explorer, step: 1 | -1): void {
  if (!explorer.jumpPlateau(step)) notice([step === 1 ? "No plateau after this moment." : "No plateau before this moment."]);
}

function nudge({ explorer, stage }: Parts, key: string): void {
  const token = explorer.state.view.selected;
  const first = explorer.run?.frames[explorer.player.frame];
  if (token === null || first === undefined) return notice(["Select a token first: , and . go through them."]);
  if (!mayMove(explorer)) return;
  const [dx, dy] = DIRECTIONS[key] ?? [0, 0];
  const point = [...first.points.subarray(token * first.dshow, (token + 1) * first.dshow)];
  explorer.change({ moved: movedNow(explorer, token, nudged(point, NUDGE * dx, NUDGE * dy)) }, 120);
  stage.refresh();
}

function nextToken(explorer: Explorer, step: 1 | -1): void {
  const n = explorer.run?.accepted.n ?? 1;
  const now = explorer.state.view.selected;
  explorer.select(now === null ? (step === 1 ? 0 : n - 1) : (now + step + n) % n);
}

export function shortcuts(parts: Parts): Shortcut[] {
  const { explorer, controls, presets, sharing, stage } = parts;
  const step = (event: KeyboardEvent, sign: 1 | -1): void => explorer.goto(explorer.player.frame + sign * (event.shiftKey ? 10 : 1));
  const entry = (keys: string, label: string, does: string, run: Shortcut["run"]): Shortcut => ({ keys, label, does, run });
  return [
    entry("Space", "space", "play or pause", () => explorer.toggle()),
    entry("ArrowLeft shift+ArrowLeft", "←, shift ←", "one frame back, ten frames back", (e) => step(e, -1)),
    entry("ArrowRight shift+ArrowRight", "→, shift →", "one frame on, ten frames on", (e) => step(e, 1)),
    entry("Home", "home", "first frame", () => explorer.goto(0)),
    entry("End", "end", "last frame", () => explorer.goto(explorer.last)),
    entry("[", "[", "plateau before", () => plateau(explorer, -1)),
    entry("]", "]", "next plateau", () => plateau(explorer, 1)),
    entry("1 2 3 4 5 6 7 8 9", "1 to 9", "the first nine presets", (e) => presets.digit(Number(e.key))),
    entry("+ =", "+", "raise β", () => controls.nudgeBeta(1)),
    entry("- _", "−", "lower β", () => controls.nudgeBeta(-1)),
    entry(",", ",", "select the token before", () => nextToken(explorer, -1)),
    entry(".", ".", "select the next token", () => nextToken(explorer, 1)),
    entry("alt+ArrowLeft alt+ArrowRight alt+ArrowUp alt+ArrowDown", "alt + arrows", "turn the stage", (e) => turnStage(stage, e.key.slice(5).toLowerCase())),
    entry("alt+shift+ArrowLeft alt+shift+ArrowRight alt+shift+ArrowUp alt+shift+ArrowDown", "shift + alt + arrows", "move the selected token; a new run begins there", (e) => nudge(parts, e.key)),
    entry("c", "c", "next colouring", () => explorer.view({ color: COLORS[(COLORS.indexOf(colorOf(explorer.state)) + 1) % COLORS.length] as ColorMode })),
    entry("t", "t", "light or dark", () => explorer.view({ theme: nextTheme(explorer.state.view.theme) })),
    entry("a", "a", "attention matrix", () => explorer.view({ panel: "attention" })),
    entry("p", "p", "phase diagram", () => explorer.view({ panel: "phase" })),
    entry("s", "s", "copy the link", () => sharing.share()),
    entry("d", "d", "more controls", () => openDetails("drawer")),
    entry("e", "e", "which equation is this?", () => openDetails("equation-box")),
    entry("?", "?", "this help", () => toggleHelp()),
    entry("Escape", "esc", "close messages, then the selection", () => {
      if (!dismissAll()) explorer.select(null);
    }),
  ];
}
