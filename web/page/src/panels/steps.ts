/** The story: chapters, each a state, a question, and what the run then showed. */
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
  /** A paper, by its key; none for what was only measured. */
  reference?: keyof typeof declared.references;
  state: Partial<Omit<State, "view">> & { view?: Partial<View> };
}

const end = (run: Run) => run.frames[run.last]!;
const start = (run: Run) => run.frames[0]!;
const endClusters = (run: Run): string => plural(end(run).clusters, "cluster");

export const SENTENCE = declared.sentence;
const STORY: Partial<View> = { panel: "story" };
const words: Partial<View> = { ...STORY, words: SENTENCE };

/** Mean length of the third coordinate. */
const height = ({ points, n }: Run["frames"][number]): number => Array.from({ length: n }, (_, i) => Math.abs(points[3 * i + 2] as number)).reduce((a, b) => a + b, 0) / n;

/** Declared in Python, where `pushforward site` records them. */
const state = (k: number): Partial<State> => declared.story[k] as Partial<State>;

export const STEPS: readonly Step[] = [
  {
    title: "A sentence",
    setting: `“${SENTENCE}” A Transformer makes of every word a token: a point x on a sphere, here in a random direction. In every layer each token asks with its query Qx, every token answers with its key Kx, and the better they match, the larger the share of its value Vx that is added. Here Q, K and V do nothing yet: alike looks at alike. Depth is time.`,
    question: "What will the words do?",
    choices: ["Wander about for ever", "Draw together", "Push each other away"],
    verdict: (run) => (end(run).cosine - start(run).cosine > 0.2 ? 1 : end(run).cosine < start(run).cosine ? 2 : 0),
    explanation: (run) =>
      `They drew together: from ${plural(start(run).clusters, "cluster")} to ${endClusters(run)} at t = ${compactNumber(end(run).t)}, the mean cosine from ${compactNumber(start(run).cosine, 2)} to ${compactNumber(end(run).cosine, 2)}. Attention averages, and whoever averages comes closer. Select a word to see who pulls it.`,
    reference: "geshkovski2023clusters",
    state: { ...state(0), view: words },
  },
  {
    title: "What values do",
    setting: "The same words and the same matches, but a value now says what is passed on: V keeps the two coordinates of the equator and turns the third around, diag(1, 1, −1).",
    question: "Where will the words go?",
    choices: ["To the poles", "To the equator", "Where they went before"],
    verdict: (run) => (height(end(run)) < 0.5 * height(start(run)) ? 1 : height(end(run)) > 0.75 ? 0 : 2),
    explanation: (run) =>
      `The mean distance from the plane of the equator went from ${compactNumber(height(start(run)), 2)} to ${compactNumber(height(end(run)), 2)}. Queries and keys choose whom a token listens to; the largest eigenvalues of V choose the directions that survive.`,
    reference: "geshkovski2023clusters",
    state: { ...state(1), view: words },
  },
  {
    title: "Clusters emerge",
    setting: "Now 64 tokens, and sharper attention: β multiplies every match, and at β = 9 a token hardly hears those that differ from it.",
    question: "What will they do?",
    choices: ["Spread out evenly", "Gather in a few clusters", "Meet in one point at once"],
    verdict: (run) => (end(run).clusters <= 1 ? 2 : end(run).clusters < end(run).n / 2 ? 1 : 0),
    explanation: (run) =>
      `They gathered: ${plural(start(run).clusters, "cluster")} at the start, ${endClusters(run)} at t = ${compactNumber(end(run).t)}. Nobody told them how many.${run.monotone ? " The energy only went up: attention climbs it, like a gradient flow in disguise." : ""}`,
    reference: "geshkovski2023perspective",
    state: { ...state(2), view: STORY },
  },
  {
    title: "Temperature",
    setting: "The same 64 starting points, with softer attention: β = 1 instead of 9. Each token now listens to almost everybody.",
    question: "How many clusters are left at the end?",
    choices: ["One", "About as many as before", "One per token"],
    verdict: (run) => (end(run).clusters <= 1 ? 0 : end(run).clusters < end(run).n / 2 ? 1 : 2),
    explanation: (run) =>
      `${endClusters(run)}: the largest holds ${percent(end(run).largest)} of the mass. For small β a theorem says that almost every start ends in a single point. The clusters of before were a matter of temperature, and of patience.`,
    reference: "geshkovski2023perspective",
    state: { ...state(3), view: STORY },
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
    reference: "geshkovski2024metastability",
    state: { ...state(4), view: STORY },
  },
  {
    title: "The staircase",
    setting: "Five tokens on the circle at β = 500, each gap wider than the one before, and time up to 1e20. Watch the energy.",
    question: "What shape does the energy have in logarithmic time?",
    choices: ["A smooth ramp", "One jump", "A staircase"],
    verdict: (run) => (run.plateaus.length >= 3 ? 2 : run.plateaus.length >= 1 ? 1 : 0),
    explanation: (run) =>
      `${plural(run.plateaus.length, "plateau")}, from ${plural(start(run).clusters, "cluster")} down to ${endClusters(run)}: every stair is one merger of the two clusters that stood closest, and the next one takes exponentially longer, because its gap is wider. The run ends at t = ${compactNumber(end(run).t)}.`,
    reference: "geshkovski2024metastability",
    state: { ...state(5), view: STORY },
  },
  {
    title: "Causal attention",
    setting: "Now a token sees only itself and those before it, as in a language model. Token 0, which sees nobody else, is selected.",
    question: "Where does everyone end up?",
    choices: ["With token 0", "In the middle of all", "Where they started"],
    verdict: (run) => (end(run).clusters <= 1 ? 0 : end(run).largest > 0.5 ? 0 : 2),
    explanation: (run) =>
      `Token 0 never moved, and the others come to it one after the other: ${endClusters(run)}, the largest with ${percent(end(run).largest)} of the mass at t = ${compactNumber(end(run).t)}. The first token is a leader because nothing can pull it.`,
    reference: "karagodin2024causal",
    state: { ...state(6), view: { panel: "story", color: "index", selected: 0 } },
  },
  {
    title: "Noise",
    setting: "Tokens at β = 4 again, but each is also kicked at random, as by rounding or dropout. Attention gathers, noise spreads.",
    question: "Who wins?",
    choices: ["Attention: they meet in one point", "Neither: they gather in a cloud", "Noise: they stay spread out"],
    verdict: (run) => (end(run).clusters <= 1 ? 0 : end(run).cosine > 0.25 ? 1 : 2),
    explanation: (run) =>
      `The mean cosine at the end is ${compactNumber(end(run).cosine, 2)}, and ${plural(end(run).clusters, "cluster")} are counted: no two tokens meet for good. How much noise it takes to undo all gathering is a phase transition: in the limit of many tokens there is a threshold above which the uniform cloud is stable.`,
    reference: "mun2026phase",
    state: { ...state(7), view: { ...STORY, color: "start" } },
  },
  {
    title: "Frozen is not converged",
    setting: "The 64 tokens of before, at β = 10,000. Nothing seems to move.",
    question: "Has the system converged?",
    choices: ["Yes: nothing moves", "No: the motion is below the precision of the computer", "It has diverged"],
    verdict: (run) => (/diverged/.test(run.done?.outcome.kind ?? "") ? 2 : end(run).clusters <= 1 ? 0 : 1),
    explanation: (run) =>
      `The page says: “${run.done?.outcome.sentence ?? "the run is not over"}” There are still ${endClusters(run)}. They attract each other with a force so small that adding it to a position changes no digit. A program that stops here and reports success reports its own rounding.`,
    state: { ...state(8), view: STORY },
  },
  {
    title: "A trained model",
    setting: "The sentence of the beginning in all-MiniLM-L6-v2, a trained Transformer of six layers and 384 dimensions: every word after every layer, scaled to length one. Nothing here is simulated; the picture is a projection, and the histogram shows all cosines.",
    question: "With depth, what do its words do?",
    choices: ["Move apart", "Keep their distance", "Draw together"],
    verdict: (run) => (end(run).cosine - start(run).cosine > 0.05 ? 2 : end(run).cosine - start(run).cosine < -0.05 ? 0 : 1),
    explanation: (run) =>
      `The mean cosine went from ${compactNumber(start(run).cosine, 2)} before the first layer to ${compactNumber(end(run).cosine, 2)} after layer ${run.last}. Words that stand at one point are one word to every layer above: what told them apart is lost. That is why collapse matters, and why models place their norms, perceptrons and skip connections with care. Drop the states of your own model on this page and look.`,
    state: { ...state(9), view: { panel: "story", color: "index", projection: "pca-now" } },
  },
];
