/** What is waited for, on the stage itself: a first picture may take a while, and says so. */
import { byId, say } from "./dom";
import type { Explorer } from "./explorer";

const PATIENCE = 600;
const LONG = 3;

export function showWaiting(explorer: Explorer): void {
  const box = byId("waiting");
  const bar = byId<HTMLProgressElement>("waiting-bar");
  let since = performance.now();
  let was = false;
  const show = (): void => {
    if (explorer.pending && !was) since = performance.now();
    was = explorer.pending;
    const elapsed = performance.now() - since;
    box.hidden = !explorer.pending || elapsed < PATIENCE;
    if (box.hidden) return;
    if (explorer.fraction === null) bar.removeAttribute("value");
    else bar.value = explorer.fraction;
    const seconds = Math.round(elapsed / 1000);
    say(byId("waiting-words"), `${explorer.waiting ?? ""}${seconds >= LONG ? ` ${seconds} s so far: what was never computed before is compiled first.` : ""}`.trim());
  };
  setInterval(show, 250);
  explorer.on("run", show);
}
