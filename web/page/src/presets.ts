/** Presets: one per figure of a paper, and a gallery of failures; their claim stands below the list. */
import type { Preset } from "./api";
import { byId, element, say } from "./dom";
import type { Explorer } from "./explorer";

/** The story has a panel of its own. */
const GROUPS: readonly [Preset["group"], string][] = [["figures", "Figures of the papers"], ["failures", "Failures worth seeing"]];

export class Presets {
  private list: Preset[] = [];
  private readonly select = byId<HTMLSelectElement>("preset");

  constructor(private readonly explorer: Explorer) {
    this.select.addEventListener("change", () => this.load(this.list.find((p) => p.id === this.select.value)));
    explorer.on("state", () => this.show());
  }

  fill(list: Preset[]): void {
    this.list = GROUPS.flatMap(([group]) => list.filter((p) => p.group === group));
    for (const [group, label] of GROUPS) {
      const members = this.list.filter((p) => p.group === group);
      if (members.length === 0) continue;
      const options = members.map((p) => element("option", { value: p.id }, this.numbered(p)));
      this.select.append(element("optgroup", { label }, ...options));
    }
    this.show();
  }

  private numbered(preset: Preset): string {
    const place = this.list.indexOf(preset) + 1;
    return place <= 9 ? `${place}  ${preset.title}` : preset.title;
  }

  /** The k-th preset, from 1: the digits of the keyboard. */
  digit(k: number): void {
    this.load(this.list[k - 1]);
  }

  private load(preset: Preset | undefined): void {
    if (preset === undefined) return;
    const { view } = this.explorer.state;
    const given = (preset.state as { view?: object }).view ?? {};
    this.explorer.load({ ...preset.state, preset: preset.id, view: { theme: view.theme, panel: view.panel, ...given } });
  }

  private show(): void {
    const { preset } = this.explorer.state;
    const found = this.list.find((p) => p.id === preset);
    this.select.value = found?.id ?? "";
    say(byId("claim"), found?.claim ?? "");
    say(byId("source"), found?.reference ?? "");
  }
}
