/** The page: makes the parts, ties them to the explorer, runs the loop. */
import "./style/page.css";
import "./style/view.css";
import { about, presets, type About } from "./api";
import { clampSentence } from "./clamp";
import { Controls } from "./controls";
import { byId, say } from "./dom";
import { Drawer } from "./drawer";
import { acceptFiles } from "./drop";
import { Explorer } from "./explorer";
import { fillHelp } from "./help";
import { listen } from "./keyboard";
import { Legend } from "./legend";
import { decodeLink } from "./link";
import { notice } from "./notices";
import { AttentionPanel } from "./panels/attention";
import { PhasePanel } from "./panels/phase";
import { SharingPanel } from "./panels/sharing";
import { StoryPanel } from "./panels/story";
import { Tabs } from "./panels/tabs";
import { Presets } from "./presets";
import { Ribbon } from "./ribbon";
import { shortcuts } from "./shortcuts";
import { openStage } from "./staging";
import { startLoop } from "./loop";
import { prefersStill, resolveTheme } from "./theme";

const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/socket`;
let story: StoryPanel | null = null;
const explorer = new Explorer(url, () => !prefersStill() && !(story?.active ?? false));
explorer.connect(); // first: the server answers while the page builds itself
const theme = () => resolveTheme(explorer.state.view.theme);

const stage = openStage(explorer, theme);
const ribbon = new Ribbon(byId("ribbon"), (k) => explorer.goto(k));
const controls = new Controls(explorer);
const drawer = new Drawer(explorer);
const presetList = new Presets(explorer);
const attention = new AttentionPanel(explorer, theme, (row) => {
  stage.look.row = row;
  stage.relight();
});
const phase = new PhasePanel(explorer, theme);
story = new StoryPanel(explorer);
const sharing = new SharingPanel(explorer, stage);
const tabs = new Tabs((panel) => explorer.view({ panel }));

explorer.on("state", () => {
  if (!tabs.show(explorer.state.view.panel)) return;
  if (explorer.state.view.panel === "phase") phase.open();
  else phase.close();
  if (explorer.state.view.panel === "attention") void attention.load();
});
explorer.on("clamped", (clamped) => notice(clamped.map(clampSentence), "warning"));
explorer.on("notice", (lines) => notice(lines, "warning"));
byId("story-open").addEventListener("click", () => {
  explorer.view({ panel: "story" });
  story?.go(0);
});
acceptFiles(explorer);
byId<HTMLDetailsElement>("equation-box").open = innerWidth >= 1320;

const keys = shortcuts({ explorer, controls, presets: presetList, sharing, stage });
fillHelp(keys);
listen(keys);
startLoop({ explorer, stage, ribbon, legend: new Legend(byId("legend")), theme });

const LATEST = 2000;
let described = false;

async function describe(): Promise<void> {
  if (described) return;
  described = true;
  try {
    const facts: About = await about();
    drawer.describe(facts);
    presetList.fill(await presets());
  } catch (error) {
    say(byId("claim"), `Presets are not available: ${(error as Error).message}.`);
  }
}

/** The hash is passed in: the page rewrites its own address, so `location` may already hold another. */
function open(hash: string): void {
  const link = decodeLink(hash);
  if (link !== null && link.clamped.length > 0) notice(link.clamped.map(clampSentence), "warning");
  explorer.load(link?.state ?? {});
}

addEventListener("hashchange", (event) => open(new URL(event.newURL).hash));
open(location.hash);
// After the first picture: the list of presets takes the server longer than a run it knows.
explorer.on("run", () => requestAnimationFrame(() => setTimeout(() => void describe())));
setTimeout(() => void describe(), LATEST);
