/** Two runs side by side: one is kept while the other changes; both are turned alike and shown at the same time. */
import { byId, say } from "../dom";
import type { Explorer } from "../explorer";
import type { Ribbon } from "../ribbon";
import type { Run } from "../run";
import { Stage } from "../stage/stage";
import type { Theme } from "../theme";
import { caption } from "./film";

/** The real-valued frame of a run at time t. */
export function positionAt(run: Run, t: number): number {
  const { frames } = run;
  let k = 0;
  while (k < run.last && (frames[k + 1]?.t ?? Infinity) <= t) k += 1;
  const [a, b] = [frames[k]?.t ?? 0, frames[k + 1]?.t ?? 0];
  return b > a ? Math.min(run.last, k + Math.max(0, (t - a) / (b - a))) : k;
}

export class Beside {
  private stage: Stage | null = null;
  private kept: Run | null = null;
  /** Whether both are drawn in one picture. */
  private laid = false;

  constructor(private readonly explorer: Explorer, private readonly main: Stage, private readonly ribbon: Ribbon, private readonly theme: () => Theme) {
    byId("compare").addEventListener("click", () => (this.kept === null ? this.keep() : this.drop()));
    byId("lay").addEventListener("click", () => this.lay(!this.laid));
    explorer.on("moment", () => this.show());
    explorer.on("run", () => {
      this.name();
      this.lay(this.laid);
    });
  }

  private keep(): void {
    const run = this.explorer.run;
    if (run === null) return;
    this.kept = run;
    byId("compare").setAttribute("aria-pressed", "true");
    say(byId("compare"), "End comparison");
    say(byId("beside-words"), `Kept: ${caption(run)}`);
    this.stage = new Stage(byId("beside-stage"), { select: () => undefined, over: () => false, grab: () => false, move: () => undefined, turned: (camera) => this.main.aim(camera) });
    this.stage.still = this.main.still;
    this.stage.labels = this.main.labels;
    this.stage.setTheme(this.theme());
    this.stage.setRun(run);
    this.lay(false);
  }

  /** Both in one picture, where they live in the same space, or beside each other. */
  private lay(asked: boolean): void {
    const { kept } = this;
    const fits = kept !== null && this.main.fits(kept);
    this.laid = asked && fits;
    byId("lay").hidden = !fits;
    byId("lay").setAttribute("aria-pressed", String(this.laid));
    byId("beside").hidden = kept === null || this.laid;
    this.main.lay(this.laid ? kept : null);
    this.name();
    this.show();
  }

  /** What stands left, and the curves of both. */
  private name(): void {
    this.ribbon.beside(this.kept);
    say(byId("stage-words"), this.kept === null || this.explorer.run === null ? "" : `Now: ${caption(this.explorer.run)}${this.laid ? `; hollow: ${caption(this.kept)}` : ""}`);
  }

  private drop(): void {
    this.kept = null;
    this.stage?.dispose();
    this.stage = null;
    byId("compare").setAttribute("aria-pressed", "false");
    say(byId("compare"), "Compare");
    this.lay(false);
  }

  private show(): void {
    if (this.stage === null || this.kept === null) return;
    const { run, player } = this.explorer;
    const k = Math.floor(player.position);
    const [a, b] = [run?.frames[k]?.t ?? 0, run?.frames[k + 1]?.t ?? run?.frames[k]?.t ?? 0];
    const position = positionAt(this.kept, a + (player.position - k) * (b - a));
    if (this.laid) this.main.showLaid(position);
    else this.stage.show(position);
  }

  /** Called after the main stage has drawn. */
  render(): void {
    if (this.stage === null || this.laid) return;
    const { look } = this.stage;
    const { color, shapes, theme } = this.main.look;
    if (look.theme !== theme) this.stage.setTheme(theme);
    if (look.color !== color || look.shapes !== shapes) {
      Object.assign(look, { color, shapes });
      this.stage.refresh();
    }
    this.stage.follow(this.main);
    this.stage.render();
  }
}
