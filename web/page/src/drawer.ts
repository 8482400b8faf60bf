/** The drawer: everything else that defines a run. */
import type { About } from "./api";
import { byId, element } from "./dom";
import type { Explorer } from "./explorer";
import { compactNumber } from "./numbers";
import { INITS, SOLVERS, type State } from "./state";

type Key = "model" | "heads" | "noise" | "weights" | "init" | "solver" | "h" | "t1" | "clock" | "frames" | "seed" | "merge" | "dtype";

interface Choice {
  key: Key;
  label: string;
  options?: [string, string][];
  min?: number;
  max?: number;
  step?: string;
}

const CHOICES: readonly Choice[] = [
  { key: "model", label: "Model", options: [["sa", "self-attention (SA)"], ["usa", "unnormalized (USA)"], ["causal", "causal mask"], ["hard", "hard attention"], ["layer", "layer by layer"], ["rescaled", "in R^d, rescaled"]] },
  { key: "heads", label: "Heads", min: 1, max: 8, step: "1" },
  { key: "t1", label: "Final time", min: 1e-6, max: 1e300, step: "any" },
  { key: "clock", label: "Frames spread", options: [["linear", "evenly in t"], ["log", "evenly in log t"]] },
  { key: "noise", label: "Noise", min: 0, max: 10, step: "any" },
  { key: "weights", label: "Token weights", options: [["equal", "equal"], ["random", "random"]] },
  { key: "init", label: "Start", options: INITS.filter((i) => i !== "file").map((i) => [i, i]) },
  { key: "seed", label: "Seed", min: 0, max: 4294967295, step: "1" },
  { key: "solver", label: "Solver", options: SOLVERS.map((s) => [s, s === "adaptive" ? "adaptive ODE" : s === "layers" ? "layers of step h" : "Heun of step h"]) },
  { key: "h", label: "Step h", min: 1e-4, max: 1, step: "any" },
  { key: "frames", label: "Frames", min: 2, max: 1001, step: "1" },
  { key: "merge", label: "Merge coincident tokens", options: [["false", "no"], ["true", "yes"]] },
  { key: "dtype", label: "Precision", options: [["float64", "float64"], ["float32", "float32"]] },
];

const MOST_EIGENVALUES = 16;

export class Drawer {
  private readonly inputs = new Map<Key, HTMLInputElement | HTMLSelectElement>();
  private readonly valueChoice = element("select", { id: "V" });
  private readonly sliders = element("div", { class: "eigenvalues", role: "group", "aria-label": "Eigenvalues of V" });

  constructor(private readonly explorer: Explorer) {
    const fields = byId("drawer-fields");
    for (const choice of CHOICES) fields.append(this.field(choice));
    fields.append(this.valueField(), this.again());
    explorer.on("state", () => this.show());
  }

  /** Names and formulas as the server tells them. */
  describe(about: About): void {
    const model = this.inputs.get("model");
    if (!(model instanceof HTMLSelectElement)) return;
    for (const { id, label, formula } of about.models) {
      const option = [...model.options].find((o) => o.value === id);
      if (option === undefined) continue;
      option.textContent = label;
      option.title = formula;
    }
  }

  private field(choice: Choice): HTMLElement {
    const id = `x-${choice.key}`;
    const input = choice.options
      ? element("select", { id }, ...choice.options.map(([value, text]) => element("option", { value }, text)))
      : element("input", { id, type: "number", min: String(choice.min), max: String(choice.max), step: choice.step ?? "any" });
    input.addEventListener("change", () => this.read(choice, input.value));
    this.inputs.set(choice.key, input);
    return element("label", { class: "line", for: id }, element("span", {}, choice.label), input);
  }

  private read(choice: Choice, text: string): void {
    const value = choice.key === "merge" ? text === "true" : choice.options ? text : Number(text);
    if (typeof value === "number" && !Number.isFinite(value)) return this.show();
    this.explorer.change({ [choice.key]: value } as Partial<State>);
  }

  private again(): HTMLElement {
    const button = element("button", { type: "button", id: "reseed" }, "Draw another start");
    button.addEventListener("click", () => this.explorer.change({ seed: this.explorer.state.seed + 1 }));
    return button;
  }

  private valueField(): HTMLElement {
    for (const [value, text] of [["", "identity"], ["minus", "minus the identity"], ["own", "eigenvalues by hand"], ["given", "as given"]]) {
      this.valueChoice.append(element("option", { value: value as string }, text as string));
    }
    this.valueChoice.addEventListener("change", () => {
      const { d } = this.explorer.state;
      const chosen = this.valueChoice.value;
      if (chosen === "given") return;
      this.explorer.change({ V: chosen === "own" ? new Array<number>(Math.min(d, MOST_EIGENVALUES)).fill(1) : chosen || null });
    });
    return element("div", { class: "values" }, element("label", { class: "line", for: "V" }, element("span", {}, "Value matrix V"), this.valueChoice), this.sliders);
  }

  private show(): void {
    const { state } = this.explorer;
    for (const [key, input] of this.inputs) if (input.value !== String(state[key])) input.value = String(state[key]);
    const own = Array.isArray(state.V) && !Array.isArray(state.V[0]);
    const given = state.V !== null && state.V !== "identity" && state.V !== "minus" && !own;
    const wanted = own ? "own" : state.V === "minus" ? "minus" : given ? "given" : "";
    if (this.valueChoice.value !== wanted) this.valueChoice.value = wanted;
    const ownOption = this.valueChoice.options[2];
    if (ownOption !== undefined) ownOption.disabled = state.d > MOST_EIGENVALUES;
    this.showEigenvalues(own ? (state.V as number[]) : []);
  }

  /** One upright slider per eigenvalue, to be dragged. */
  private showEigenvalues(values: readonly number[]): void {
    while (this.sliders.childElementCount > values.length) this.sliders.lastElementChild?.remove();
    values.forEach((value, k) => {
      const slider = (this.sliders.children[k] as HTMLInputElement | undefined) ?? this.eigenvalue(k);
      if (slider.valueAsNumber !== value) slider.value = String(value);
      slider.setAttribute("aria-valuetext", compactNumber(value));
      slider.title = `eigenvalue ${k + 1}: ${compactNumber(value)}`;
    });
  }

  private eigenvalue(k: number): HTMLInputElement {
    const slider = element("input", { type: "range", min: "-2", max: "2", step: "0.05", "aria-label": `Eigenvalue ${k + 1}`, "aria-orientation": "vertical" });
    slider.addEventListener("input", () => {
      const values = [...(this.explorer.state.V as number[])];
      values[k] = slider.valueAsNumber;
      this.explorer.change({ V: values });
    });
    this.sliders.append(slider);
    return slider;
  }
}
