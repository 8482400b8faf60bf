/** The story: eight steps, each a state, a question, and what the run then showed. */
import declared from "../declared.json";
import { compactNumber, percent, plural } from "../numbers";
import type { Run } from "../run";
import type { State, View } from "../state";

export interface Step {
  title: string;
  setting: string;
  question: string;
  choices: readonly [string, string, string];
  /** Which choice the run bears out; read off the run itself, never assumed. */
  verdict: (run: Run) => number;
  explanation: (run: Run) => string;
  state: Partial<Omit<State, "view">> & { view?: Partial<View> };
}

const end = (run: Run) => run.frames[run.last]!;
const start = (run: Run) => run.frames[0]!;
const endClusters = (run: Run): string => plural(end(run).clusters, "cluster");

/** Declared in Python, where `pushforward site` records them. */
const state = (k: number): Partial<State> => declared.story[k] as Partial<State>;

export const STEPS: readonly Step[] = [
  {
    title: "Clusters emerge",
    setting: "64 tokens start at random on the sphere. Depth is time: every token moves toward the average of the others, weighted by attention at β = 9.",
    question: "What will they do?",
    choices: ["Spread out evenly", "Gather in a few clusters", "Meet in one point at once"],
    verdict: (run) => (end(run).clusters <= 1 ? 2 : end(run).clusters < end(run).n / 2 ? 1 : 0),
    explanation: (run) =>
      `They gathered: ${plural(start(run).clusters, "cluster")} at the start, ${endClusters(run)} at t = ${compactNumber(end(run).t)}. Nobody told them how many.${run.done?.energy_monotone ? " The energy only went up: attention climbs it, like a gradient flow in disguise." : ""}`,
    state: { ...state(0), view: { panel: "story", color: "cluster" } },
  },
  {
    title: "Temperature",
    setting: "The same 64 starting points, with softer attention: β = 1 instead of 9. Each token now listens to almost everybody.",
    question: "How many clusters are left at the end?",
    choices: ["One", "About as many as before", "One per token"],
    verdict: (run) => (end(run).clusters <= 1 ? 0 : end(run).clusters < end(run).n / 2 ? 1 : 2),
    explanation: (run) =>
      `${endClusters(run)}: the largest holds ${percent(end(run).largest)} of the mass. For small β a theorem says that almost every start ends in a single point. The clusters of the first step were a matter of temperature, and of patience.`,
    state: { ...state(1), view: { panel: "story", color: "cluster" } },
  },
  {
    title: "A plateau that lasts",
    setting: "Tokens on a circle, β = 20, time on a logarithmic axis. Coloured lines show the angle of every token.",
    question: "After the first clusters have formed, what do they do?",
    choices: ["Merge at a steady pace", "Wait very long, then merge", "Split again"],
    verdict: (run) => (run.plateaus.length > 0 ? 1 : 0),
    explanation: (run) => {
      const longest = [...run.plateaus].sort((a, b) => (b.log10_lifetime ?? 0) - (a.log10_lifetime ?? 0))[0];
      const life = longest === undefined ? "" : ` The longest plateau here holds ${plural(longest.clusters, "cluster")} from t = ${compactNumber(run.frames[longest.from]?.t ?? 0, 2)} to ${compactNumber(run.frames[longest.to]?.t ?? 0, 2)}.`;
      return `They wait.${life} Two clusters an angle apart attract with a force that is exponentially small in β, so a picture that looks final is only metastable. Press [ and ] to jump between the plateaus.`;
    },
    state: { ...state(2), view: { panel: "story", color: "start", axis: "log" } },
  },
  {
    title: "The staircase",
    setting: "Five tokens on the circle at β = 500, each gap wider than the one before, and time up to 1e20. Watch the energy.",
    question: "What shape does the energy have in logarithmic time?",
    choices: ["A smooth ramp", "One jump", "A staircase"],
    verdict: (run) => (run.plateaus.length >= 3 ? 2 : run.plateaus.length >= 1 ? 1 : 0),
    explanation: (run) =>
      `${plural(run.plateaus.length, "plateau")}, from ${plural(start(run).clusters, "cluster")} down to ${endClusters(run)}: every stair is one merger of the two clusters that stood closest, and the next one takes exponentially longer, because its gap is wider. The run ends at t = ${compactNumber(end(run).t)}.`,
    state: { ...state(3), view: { panel: "story", color: "start", axis: "log" } },
  },
  {
    title: "Causal attention",
    setting: "Now a token sees only itself and those before it, as in a language model. Token 0, which sees nobody else, is selected.",
    question: "Where does everyone end up?",
    choices: ["With token 0", "In the middle of all", "Where they started"],
    verdict: (run) => (end(run).clusters <= 1 ? 0 : end(run).largest > 0.5 ? 0 : 2),
    explanation: (run) =>
      `Token 0 never moved, and the others come to it one after the other: ${endClusters(run)}, the largest with ${percent(end(run).largest)} of the mass at t = ${compactNumber(end(run).t)}. The first token is a leader because nothing can pull it.`,
    state: { ...state(4), view: { panel: "story", color: "index", selected: 0 } },
  },
  {
    title: "Hard attention",
    setting: "Let β grow without bound: each token attends only to the token that matches it best. Queries, keys and values are the tokens themselves.",
    question: "How does the motion change?",
    choices: ["All meet in one point at once", "Nobody moves", "Tokens chase each other"],
    verdict: (run) => (end(run).clusters <= 1 ? 0 : Math.abs(end(run).cosine - start(run).cosine) < 1e-6 ? 1 : 2),
    explanation: (run) =>
      `The mean cosine went from ${compactNumber(start(run).cosine, 3)} to ${compactNumber(end(run).cosine, 3)}: on the sphere the best match of a token is the token itself, so there is nothing to follow. All motion you saw before came from what the softmax gives to others, which is exponentially little when β is large; hard attention gives them nothing, and the long waits of the plateaus become forever.`,
    state: { ...state(5), view: { panel: "story", color: "cluster" } },
  },
  {
    title: "Frozen is not converged",
    setting: "The 64 tokens of the first step, at β = 10,000. Nothing seems to move.",
    question: "Has the system converged?",
    choices: ["Yes: nothing moves", "No: the motion is below the precision of the computer", "It has diverged"],
    verdict: (run) => (/diverged/.test(run.done?.outcome.kind ?? "") ? 2 : end(run).clusters <= 1 ? 0 : 1),
    explanation: (run) =>
      `The page says: “${run.done?.outcome.sentence ?? "the run is not over"}” There are still ${endClusters(run)}. They attract each other with a force so small that adding it to a position changes no digit. A program that stops here and reports success reports its own rounding.`,
    state: { ...state(6), view: { panel: "story", color: "cluster" } },
  },
  {
    title: "High dimension",
    setting: "64 tokens in 256 dimensions, β = 1. Random directions are nearly orthogonal there, so all pairs look alike. The histogram shows every pairwise cosine.",
    question: "How do the cosines move?",
    choices: ["They spread between −1 and 1", "All together, from 0 to 1", "They stay at 0"],
    verdict: (run) => (end(run).cosine > 0.9 ? 1 : end(run).cosine < 0.1 ? 2 : 0),
    explanation: (run) =>
      `Together: the mean cosine went from ${compactNumber(start(run).cosine, 2)} to ${compactNumber(end(run).cosine, 4)}, and the histogram stayed narrow on the way. In the limit of many dimensions one ordinary differential equation for one angle predicts the whole run, however many tokens there are; at d = 256 the cosines still differ by about 1/√d = 0.06.`,
    state: { ...state(7), view: { panel: "story", color: "cluster" } },
  },
];
