/** The equation of motion with the numbers of a state in it, typeset by the browser. */
import { compactNumber } from "./numbers";
import { asGiven, type State } from "./state";

type Part = Node | string;

function m(tag: string, ...parts: Part[]): Element {
  const node = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
  node.append(...parts);
  return node;
}

const id = (text: string): Element => m("mi", text);
const op = (text: string): Element => m("mo", text);
const num = (x: number): Element => m("mn", compactNumber(x));
const row = (...parts: Part[]): Element => m("mrow", ...parts);
const sub = (base: Element, below: Element): Element => m("msub", base, below);
const x = (index: string): Element => sub(id("x"), id(index));
const pair = (a: Element, b: Element): Element => row(op("⟨"), a, op(","), b, op("⟩"));

/** V as it stands before x_j. */
function value(state: State, general: boolean): Element[] {
  const { V } = state;
  if (V === null || V === "identity") return general ? [id("V")] : [];
  if (V === "minus") return [op("−")];
  if (typeof V === "string" || Array.isArray(V[0])) return [id("V")];
  return [m("mi", "diag"), row(op("("), ...(V as number[]).flatMap((v, k) => (k === 0 ? [num(v)] : [op(","), num(v)])), op(")"))];
}

/** sum_j w_j e^{beta <x_i, x_j>} V x_j / Z_i, with what the model makes of it. */
function attention(state: State, i: string): Element {
  const { model, beta, heads } = state;
  const general = heads > 1 || (typeof state.V === "string" && state.V.startsWith("file:"));
  const side = (name: string, index: string): Element => (general ? row(id(name), x(index)) : x(index));
  const match = pair(side("Q", i), side("K", "j"));
  const moved = row(...value(state, general), x("j"));
  const over = m("munder", op("∑"), model === "causal" ? row(id("j"), op("≤"), id(i)) : id("j"));
  const weight = m("msup", id("e"), row(num(beta), match));
  const several = heads > 1 ? [m("munderover", op("∑"), row(id("h"), op("="), m("mn", "1")), m("mn", String(heads)))] : [];
  if (model === "hardmax") return row(...several, m("munder", m("mi", "mean"), row(id("j"), op("∈"), m("mi", "argmax"), match)), moved);
  const sum = row(over, sub(id("w"), id("j")), weight, moved);
  if (model === "usa") return row(...several, m("msup", id("e"), row(op("−"), num(Math.abs(beta)))), sum);
  return row(...several, m("mfrac", m("mn", "1"), sub(id("Z"), id(i))), sum);
}

function rescaled({ beta, V }: State): Element {
  const z = (k: string): Element => row(m("msup", id("e"), row(id("t"), id("V"))), sub(id("z"), id(k)));
  const left = m("mfrac", row(id("d"), sub(id("z"), id("i"))), row(id("d"), id("t")));
  const weight = m("msup", id("e"), row(num(beta), pair(z("i"), z("j"))));
  const share = m("mfrac", m("mn", "1"), sub(id("Z"), id("i")));
  return row(left, op("="), share, m("munder", op("∑"), id("j")), weight, ...(V === null ? [] : [id("V")]), op("("), sub(id("z"), id("j")), op("−"), sub(id("z"), id("i")), op(")"));
}

function formula(state: State): Element {
  if (state.model === "rescaled") return rescaled(state);
  const i = state.model === "causal" ? "k" : "i";
  const relu = state.perceptron === 0 ? [] : [op("+"), num(state.perceptron), m("mi", "relu"), row(op("("), x(i), op(")"))];
  const inside = row(attention(state, i), ...relu);
  if (state.solver === "layers") return row(x(i), op("←"), m("mi", "normalize"), row(op("("), x(i), op("+"), num(state.h), inside, op(")")));
  const left = m("mfrac", row(id("d"), x(i)), row(id("d"), id("t")));
  const noise = state.noise > 0 ? [op("+"), num(state.noise), sub(id("P"), x(i)), op("∘"), m("mover", sub(id("W"), id(i)), op("˙"))] : [];
  const tangent = (drive: Element): Element[] => [sub(id("P"), x(i)), op("["), drive, op("]")];
  if (state.norm === "unit") return row(left, op("="), ...tangent(m("mfrac", sub(id("A"), id(i)), row(op("|"), sub(id("A"), id(i)), op("|")))), ...noise, op(","), m("mspace"), sub(id("A"), id(i)), op("="), inside);
  const slower = state.norm === "depth" ? [m("mfrac", m("mn", "1"), m("msqrt", row(m("mn", "1"), op("+"), id("t"))))] : [];
  return row(left, op("="), ...slower, ...tangent(inside), ...noise);
}

/** What the letters of the equation mean. */
export function lettersOf(state: State): string {
  if (asGiven(state) || state.model === "recorded") return "";
  const sum = state.model === "usa" || state.model === "hardmax" ? "" : `Z${state.model === "causal" ? "ₖ" : "ᵢ"} makes the weights sum to one; `;
  const mass = state.model === "hardmax" ? "" : `wⱼ is the mass of token j${state.weights === "equal" ? `, 1/${state.n}` : ""}. `;
  const sphere = state.model === "rescaled" || state.solver === "layers" ? "" : "P keeps of a vector what is tangent to the sphere; ";
  const values = state.V === null || state.V === "identity" ? "" : "V says what is passed on. ";
  return `${sphere}${sum}${mass}${values}`.replace(/; $/, ".").trim();
}

/** A <math> for the state, or a sentence for what is not integrated. */
export function equationOf(state: State, field: string | null = null, previewed = false): Node {
  if (asGiven(state)) {
    const text = document.createElement("code");
    text.textContent = field ?? "";
    const box = document.createElement("p");
    const meanwhile = previewed ? "while it computes, the page shows a preview" : "the page has no preview of it";
    box.append(`The server runs this experiment as its text says; ${meanwhile}. What moves the tokens: `, text);
    return box;
  }
  if (state.model === "recorded") return document.createTextNode("Recorded layer by layer, not integrated.");
  const math = m("math", formula(state));
  math.setAttribute("display", "block");
  return math;
}
