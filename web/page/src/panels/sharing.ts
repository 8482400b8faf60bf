/** Link, code and files: what can be taken away from the page. */
import { exportPath } from "../api";
import { byId, debounce, say } from "../dom";
import type { Explorer } from "../explorer";
import { encodeLink } from "../link";
import { clampSentence } from "../clamp";
import { notice } from "../notices";
import type { Stage } from "../stage/stage";

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notice([`${what} copied.`]);
  } catch {
    notice([`The browser did not let the page copy. ${what}:`, text], "warning");
  }
}

export class SharingPanel {
  constructor(private readonly explorer: Explorer, private readonly stage: Stage) {
    byId("share").addEventListener("click", () => this.share());
    byId("copy-python").addEventListener("click", () => void copy(explorer.run?.accepted.python ?? "", "Python"));
    byId("copy-command").addEventListener("click", () => void copy(explorer.run?.accepted.command ?? "", "Command line"));
    byId("export-view").addEventListener("click", () => void this.saveView());
    const write = debounce(250, () => this.writeAddress());
    explorer.on("state", write);
    explorer.on("run", () => this.showCode());
    explorer.on("done", () => this.showExports());
    explorer.on("rest", () => this.showExports());
    this.showExports();
  }

  /** The address bar always holds the state, so that a reload or a bookmark keeps it. */
  private writeAddress(): void {
    const { hash } = encodeLink(this.explorer.state);
    if (hash !== location.hash) history.replaceState(null, "", hash);
    say(byId("link"), location.origin + "/" + hash);
  }

  share(): void {
    const { hash, dropped } = encodeLink(this.explorer.state);
    history.replaceState(null, "", hash);
    if (dropped.length > 0) notice(dropped.map(clampSentence), "warning");
    void copy(location.origin + "/" + hash, "Link");
  }

  private showCode(): void {
    const accepted = this.explorer.run?.accepted;
    say(byId("python"), accepted?.python ?? "");
    say(byId("command"), accepted?.command ?? "");
    this.showExports();
  }

  private showExports(): void {
    const { run, player } = this.explorer;
    const ready = run !== null && run.done !== null;
    for (const [id, kind] of [["png", "png"], ["mp4", "mp4"], ["csv", "csv"], ["run", "zip"]] as const) {
      const link = byId<HTMLAnchorElement>(`export-${id}`);
      link.setAttribute("aria-disabled", String(!ready));
      if (ready) link.href = exportPath(run.accepted.run, kind, kind === "png" ? player.frame : undefined);
      else link.removeAttribute("href");
    }
  }

  private async saveView(): Promise<void> {
    const blob = await this.stage.picture();
    if (blob === null) return;
    const url = URL.createObjectURL(blob);
    const anchor = document.createElement("a");
    anchor.href = url;
    anchor.download = "pushforward-stage.png";
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
}
