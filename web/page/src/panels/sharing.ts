/** Link, code and files: what can be taken away from the page. */
import { exportPath } from "../api";
import { byId, debounce, element, say } from "../dom";
import type { Explorer } from "../explorer";
import { content, encodeLink, LINK_LIMIT } from "../link";
import { notice } from "../notices";
import type { Run } from "../run";
import { asPicture } from "../stage/copies";
import type { Stage } from "../stage/stage";
import { runInWords } from "../words";
import { cardOf, loopOf } from "./film";

/** Names that mean another machine on another machine. */
const LOCAL = ["127.0.0.1", "localhost", "[::1]"];

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
    byId("share").addEventListener("click", () => void this.share());
    byId("copy-python").addEventListener("click", () => void copy(explorer.run?.accepted.python ?? "", "Python"));
    byId("copy-toml").addEventListener("click", () => void copy(explorer.run?.accepted.toml ?? "", "TOML"));
    byId("copy-command").addEventListener("click", () => void copy(explorer.run?.accepted.command ?? "", "Command line"));
    byId("copy-elsewhere").addEventListener("click", () => void copy(byId("elsewhere").textContent ?? "", "Command"));
    byId("export-view").addEventListener("click", () => void this.save("stage", () => asPicture(this.stage.layers())));
    byId("export-card").addEventListener("click", () => void this.save("card", () => cardOf(explorer, stage, stage.look.theme, title(explorer))));
    byId("export-loop").addEventListener("click", () => void this.save("loop", () => loopOf(explorer, stage, stage.look.theme, (share) => say(byId("export-loop"), `Drawing: ${Math.round(100 * share)} %`))));
    const write = debounce(250, () => void this.writeAddress());
    explorer.on("state", write);
    explorer.on("run", write);
    explorer.on("run", () => this.showCode());
    explorer.on("done", () => this.showExports());
    explorer.on("rest", () => this.showExports());
    this.showExports();
  }

  /** The address bar holds the run and the view, so that a reload or a bookmark keeps them. */
  private async writeAddress(): Promise<boolean> {
    const { accepted, pending, state } = this.explorer;
    if (accepted === null || pending) return false;
    const { hash, dropped } = await encodeLink(content(accepted, state));
    if (state !== this.explorer.state) return this.writeAddress(); // it changed meanwhile
    if (hash !== location.hash) history.replaceState(null, "", hash);
    say(byId("link"), location.href.replace(/#.*$/, "") + hash);
    say(byId("elsewhere"), `pushforward explore --state ${hash.slice(3)}`);
    return dropped;
  }

  async share(): Promise<void> {
    if (await this.writeAddress()) notice([`A link holds at most ${LINK_LIMIT} characters: tokens moved by hand were left out.`], "warning");
    const link = byId("link").textContent ?? "";
    if (!LOCAL.includes(location.hostname)) return copy(link, "Link");
    await copy(link, "Link");
    notice(["This address opens on this machine only. For others: the command below Export opens the same run and view anywhere."]);
  }

  private showCode(): void {
    const accepted = this.explorer.run?.accepted;
    say(byId("python"), accepted?.python ?? "");
    say(byId("toml"), accepted?.toml ?? "");
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

  private async save(name: string, made: () => Promise<Blob | null>): Promise<void> {
    if (this.explorer.run === null) return;
    const button = byId(name === "stage" ? "export-view" : `export-${name}`);
    const words = button.textContent ?? "";
    try {
      const blob = await made();
      if (blob === null) return;
      const url = URL.createObjectURL(blob);
      element("a", { href: url, download: `pushforward-${name}.png` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    } finally {
      say(button, words);
    }
  }
}

/** What the run is called: its preset, or what it is made of. */
function title({ run }: Explorer): string {
  const chosen = byId<HTMLSelectElement>("preset").selectedOptions[0];
  return chosen !== undefined && chosen.value !== "" ? (chosen.textContent ?? "").replace(/^\d+\s+/, "") : runInWords((run as Run).state);
}
