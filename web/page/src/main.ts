/** The page: makes the parts, ties them to the explorer, runs the loop. */
import "./style/page.css";
import "./style/view.css";
import { presets } from "./api";
import { Controls } from "./controls";
import { byId, say } from "./dom";
import { Drawer } from "./drawer";
import { acceptFiles } from "./drop";
import { Explorer } from "./explorer";
import { fillHelp } from "./help";
import { listen } from "./keyboard";
import { Legend } from "./legend";
import { decodeLink } from "./link";
import { clampSentence, notice } from "./notices";
import { Beside } from "./panels/beside";
import { AttentionPanel } from "./panels/attention";
import { PhasePanel } from "./panels/phase";
import { SharingPanel } from "./panels/sharing";
import { StoryPanel } from "./panels/story";
import { Tabs } from "./panels/tabs";
import { Presets } from "./presets";
import { Ribbon } from "./ribbon";
import { shortcuts } from "./shortcuts";
import { RunSocket } from "./socket";
import { SITE, SiteSource } from "./sources/site";
import { openStage } from "./staging";
import { startLoop } from "./loop";
import { prefersStill, resolveTheme } from "./theme";
import { showWaiting } from "./waiting";

const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/socket`;
let story: StoryPanel | null = null;
const explorer = new Explorer((events) => (SITE === undefined ? new RunSocket(url, events) : new SiteSource(SITE, events)), () => !prefersStill() && !(story?.active ?? false));
explorer.connect(); // first: the server answers while the page builds itself
const theme = () => resolveTheme(explorer.state.view.theme);

const stage = openStage(explorer, theme);
const ribbon = new Ribbon(byId("ribbon"), (k) => explorer.goto(k));
const controls = new Controls(explorer);
new Drawer(explorer);
const presetList = new Presets(explorer);
const attention = new AttentionPanel(explorer, theme, (row, moved) => {
  Object.assign(stage.look, { row, moved });
  stage.relight();
}, (forces) => {
  stage.arrows = forces === null || forces.velocity.length > 3 ? null : { token: forces.token, parts: forces.parts.map(({ vector }) => vector), velocity: forces.velocity };
  stage.relight();
});
const phase = new PhasePanel(explorer, theme);
story = new StoryPanel(explorer);
const beside = new Beside(explorer, stage, ribbon, theme);
const sharing = new SharingPanel(explorer, stage);
const tabs = new Tabs((panel) => explorer.view({ panel }));

explorer.on("state", () => {
  document.body.dataset["panel"] = explorer.state.view.panel;
  if (!tabs.show(explorer.state.view.panel)) return;
  if (explorer.state.view.panel === "phase") phase.open();
  else phase.close();
  if (explorer.state.view.panel === "attention") void attention.load();
});
explorer.on("clamped", (clamped) => notice(clamped.map(clampSentence), "warning"));
explorer.on("notice", (lines) => notice(lines, "warning"));
byId("story-open").addEventListener("click", () => {
  explorer.view({ panel: "story" });
  story?.show(0);
});
const veil = (): void => {
  const veiled = story?.active ?? false;
  document.body.toggleAttribute("data-veiled", veiled);
  if (stage.look.veiled === veiled) return;
  stage.look.veiled = veiled;
  stage.refresh();
};
for (const event of ["state", "moment", "run", "done"] as const) explorer.on(event, veil);
byId("reset").addEventListener("click", () => explorer.load({ view: { theme: explorer.state.view.theme } }));
showWaiting(explorer);
document.body.toggleAttribute("data-site", SITE !== undefined); // what needs a server is not shown
acceptFiles(explorer);
byId<HTMLDetailsElement>("equation-box").open = innerWidth >= 1320;

const keys = shortcuts({ explorer, controls, presets: presetList, sharing, stage });
fillHelp(keys);
listen(keys);
startLoop({ beside, explorer, stage, ribbon, legend: new Legend(byId("legend")), theme });

const LATEST = 2000;
let described = false;

async function describe(): Promise<void> {
  if (described) return;
  described = true;
  try {
    presetList.fill(await presets());
  } catch (error) {
    say(byId("claim"), `Presets are not available: ${(error as Error).message}.`);
  }
}

/** The hash is passed in: the page rewrites its own address, so `location` may already hold another. */
async function open(hash: string): Promise<void> {
  const found = await decodeLink(hash);
  if (typeof found === "string") notice([found], "warning");
  const first = { preset: "perspective-sphere", ...SITE?.runs[SITE.first]?.accepted.state, view: { panel: SITE !== undefined && SITE.presets.length === 0 ? "attention" : "story" } };
  explorer.load(typeof found === "string" || found === null ? first : found);
}

addEventListener("hashchange", (event) => void open(new URL(event.newURL).hash));
void open(location.hash);
// After the first picture: the list of presets takes the server longer than a run it knows.
explorer.on("run", () => requestAnimationFrame(() => setTimeout(() => void describe())));
setTimeout(() => void describe(), LATEST);
