/** The help dialog: hands, keys, and what the words mean. */
import { byId, element } from "./dom";
import type { Shortcut } from "./keyboard";

const HANDS: readonly [string, string][] = [
  ["Drag the stage", "turns the sphere"],
  ["Wheel or pinch", "zooms"],
  ["Click a token", "selects it: its attention row lights up, arrows say who pulls it"],
  ["Drag a token", "takes it along, on the circle and the sphere, at any time: a new run begins there (with more than 256 tokens hold shift)"],
  ["Drag on the ribbon", "moves the play head"],
  ["Click in the matrix", "selects the token of that row"],
  ["Click in the phase diagram", "loads that exact run"],
  ["Drop a file", "shows your tokens, weights or hidden states"],
];

const WORDS: readonly [string, string][] = [
  ["Energy", "2β e^(−β) times the interaction energy, between 0 and 1; 1 means one cluster"],
  ["Clusters", "chains of tokens at most 0.05 apart; for many tokens the radius is smaller, so that tokens spread at random are not one cluster"],
  ["Largest mass", "share of the mass in the heaviest cluster"],
  ["Plateau", "a stretch of time with a constant number of clusters"],
  ["Frozen", "the motion is below the precision of the numbers: not the same as converged"],
];

function table(caption: string, rows: readonly (readonly [string, string])[], keys: boolean): HTMLElement {
  const body = rows.map(([a, b]) => element("tr", {}, element("th", { scope: "row" }, keys ? element("kbd", {}, a) : a), element("td", {}, b)));
  return element("table", {}, element("caption", {}, caption), element("tbody", {}, ...body));
}

export function fillHelp(shortcuts: readonly Shortcut[]): void {
  const dialog = byId<HTMLDialogElement>("help");
  const close = element("button", { type: "button", autofocus: "" }, "Close");
  close.addEventListener("click", () => dialog.close());
  byId("help-open").addEventListener("click", toggleHelp);
  const keys = shortcuts.map((s) => [s.label, s.does] as const);
  dialog.append(
    element("div", { class: "dialogbar" }, element("h2", { id: "help-title" }, "Help"), close),
    element("p", {}, "Tokens are points on a sphere; depth is time; attention moves them. While the library computes a run, the page shows a preview of its own and says so. What has been computed is kept: moving the play head computes nothing."),
    table("Hands", HANDS, false),
    table("Keys", keys, true),
    table("Words", WORDS, false),
  );
}

export function toggleHelp(): void {
  const dialog = byId<HTMLDialogElement>("help");
  if (dialog.open) dialog.close();
  else {
    dialog.showModal();
    dialog.scrollTop = 0;
  }
}
