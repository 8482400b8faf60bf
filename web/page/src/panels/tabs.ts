/** Four panels, one at a time. */
import { byId } from "../dom";
import { PANELS, type PanelName } from "../state";

const ELEMENT: Readonly<Record<PanelName, string>> = { attention: "attention", phase: "phase", story: "story", share: "exports" };

export class Tabs {
  private current: PanelName | null = null;

  constructor(private readonly chosen: (panel: PanelName) => void) {
    PANELS.forEach((name, k) => {
      const tab = byId(`tab-${name}`);
      tab.addEventListener("click", () => this.chosen(name));
      tab.addEventListener("keydown", (event) => {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (step === 0) return;
        event.preventDefault();
        const next = PANELS[(k + step + PANELS.length) % PANELS.length] as PanelName;
        this.chosen(next);
        byId(`tab-${next}`).focus();
      });
    });
  }

  /** True when another panel than before is now open. */
  show(panel: PanelName): boolean {
    if (panel === this.current) return false;
    this.current = panel;
    for (const name of PANELS) {
      byId(ELEMENT[name]).hidden = name !== panel;
      byId(`tab-${name}`).setAttribute("aria-selected", String(name === panel));
      byId(`tab-${name}`).tabIndex = name === panel ? 0 : -1;
    }
    return true;
  }
}
