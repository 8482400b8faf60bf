/** Short messages in the corner: what was clamped, copied or refused. */
import { byId, element } from "./dom";

/** What the server changed of what was asked, and why. */
export interface Clamp {
  key: string;
  asked: unknown;
  used: unknown;
  why: string;
}

/** "n: 1000000000 became 4096 (must lie in [1, 4096])". */
export function clampSentence(clamp: Clamp): string {
  const show = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing")).slice(0, 60);
  return `${clamp.key}: ${show(clamp.asked)} became ${show(clamp.used)} (${clamp.why})`;
}

const LIFE = 9000;
const MOST = 4;

export function notice(lines: readonly string[], kind: "info" | "warning" = "info"): void {
  const host = byId("notices");
  const close = element("button", { type: "button", "aria-label": "Dismiss" }, "×");
  const box = element("div", { class: `notice ${kind}` }, ...lines.map((line) => element("p", {}, line)), close);
  const remove = (): void => box.remove();
  close.addEventListener("click", remove);
  setTimeout(remove, LIFE + 2000 * lines.length);
  host.append(box);
  while (host.childElementCount > MOST) host.firstElementChild?.remove();
}

/** Close every message; true when there was one. */
export function dismissAll(): boolean {
  const host = byId("notices");
  const any = host.childElementCount > 0;
  host.replaceChildren();
  return any;
}
