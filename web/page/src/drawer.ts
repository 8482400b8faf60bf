/** The drawer: everything else that defines a run. */
import { byId, element } from "./dom";
import type { Explorer } from "./explorer";
import { compactNumber } from "./numbers";
import { SITE } from "./sources/site";
import { asGiven, CONTROLS, controlOf, MOST_EIGENVALUES, type Asked, type Control, type State } from "./state";

/** Those with sliders of their own stand outside; files are dropped, not chosen. */
const ELSEWHERE = ["beta", "n", "d"];
const DROPPED: readonly unknown[] = ["file", "recorded", "experiment"];
/** Fields that have a rule on a density. */
const MEAN_FIELDS: readonly string[] = ["sa", "usa"];

export class Drawer {
  private readonly inputs = new Map<string, HTMLInputElement | HTMLSelectElement>();
  private readonly valueChoice = element("select", { id: "V" });
  private readonly density = element("button", { type: "button", id: "as-density", title: "Infinitely many tokens: the law that starts where these do, each spread a little." }, "Run the mean-field density");
  /** What a hand is in the middle of: answers that arrive meanwhile leave it alone. */
  private typing: HTMLElement | null = null;
  private readonly sliders = element("div", { class: "eigenvalues", role: "group", "aria-label": "Eigenvalues of V" });

  constructor(private readonly explorer: Explorer) {
    const fields = byId("drawer-fields");
    for (const control of CONTROLS) if (!ELSEWHERE.includes(control.key)) fields.append(this.field(control));
    fields.append(this.valueField(), this.again(), this.density);
    this.density.addEventListener("click", () => explorer.load({ ...explorer.state, preset: null, measure: "density" }));
    explorer.on("state", () => this.show());
  }

  private field(control: Control): HTMLElement {
    const id = `x-${control.key}`;
    const input = control.choices
      ? element("select", { id }, ...control.choices.map(({ value, label, formula }) => element("option", { value: String(value), title: formula ?? "", ...(DROPPED.includes(value) ? { hidden: "" } : {}) }, label)))
      : element("input", { id, type: "number", min: String(control.low), max: String(control.high), step: control.kind === "whole" ? "1" : "any" });
    input.addEventListener("input", () => (this.typing = input));
    input.addEventListener("change", () => {
      this.typing = null;
      this.read(control, input.value);
    });
    input.addEventListener("blur", () => (this.typing = null)); // typed back to what it was
    this.inputs.set(control.key, input);
    return element("label", { class: "line", for: id, title: control.help }, element("span", {}, control.label), input);
  }

  private read(control: Control, text: string): void {
    const value = control.choices ? control.choices.find((choice) => String(choice.value) === text)?.value : Number(text);
    if (typeof value === "number" && !Number.isFinite(value)) return this.show();
    this.explorer.change({ [control.key]: value } as Partial<State>);
  }

  private again(): HTMLElement {
    const button = element("button", { type: "button", id: "reseed" }, "Draw another start");
    button.addEventListener("click", () => this.explorer.change({ seed: (this.explorer.state.seed + 1) % ((controlOf("seed").high as number) + 1) }));
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
    for (const [key, input] of this.inputs) {
      const value = String((state as unknown as Asked)[key]);
      if (this.typing !== input && input.value !== value) input.value = value;
      input.disabled = !this.explorer.changes(key);
    }
    this.valueChoice.disabled = !this.explorer.changes("V");
    this.density.hidden = SITE !== undefined || asGiven(state) || state.d > 3 || !MEAN_FIELDS.includes(state.model);
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
