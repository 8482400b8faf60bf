/** Why a token moves: its velocity split by token and by head, as a list and as arrows. */
import { element } from "../dom";
import type { Frame } from "../frames";
import { compactNumber } from "../numbers";
import { pulls, type Field, type Pull } from "../physics/field";

export interface Force extends Pull {
  strength: number;
}

export interface Forces {
  token: number;
  /** Strongest first. */
  parts: Force[];
  /** The sum of all strengths. */
  total: number;
  velocity: Float64Array;
  speed: number;
}

const MOST_LISTED = 6;

export function forcesOf(field: Field, frame: Frame, token: number): Forces {
  const parts = pulls(field, Float64Array.from(frame.points), token, frame.t).map((pull) => ({ ...pull, strength: Math.hypot(...pull.vector) }));
  parts.sort((a, b) => b.strength - a.strength);
  const velocity = new Float64Array(field.d);
  for (const { vector } of parts) vector.forEach((part, c) => (velocity[c]! += part));
  return { token, parts, total: parts.reduce((sum, { strength }) => sum + strength, 0), velocity, speed: Math.hypot(...velocity) };
}

/** Who pulls, through which head. */
function named({ head, token }: Pull, heads: number, name: (i: number) => string): string {
  if (token === null) return "the perceptron";
  return heads > 1 ? `${name(token)}, head ${(head as number) + 1}` : name(token);
}

/** The strongest pulls with a bar each, the share of every head, and what is left when all are added. */
export function forceList({ token, parts, total, speed }: Forces, heads: number, name: (i: number) => string): Node[] {
  if (total === 0) return [document.createTextNode(`${name(token)} rests: nobody pulls it.`)];
  const share = (strength: number): string => `${Math.round((100 * strength) / total)} %`;
  const title = element("h3", {}, `Why ${name(token)} moves`);
  const list = element("ol", { class: "pulls" });
  for (const part of parts.slice(0, MOST_LISTED)) {
    if (part.strength < 0.005 * total) break;
    const bar = element("span", { class: "pullbar", "aria-hidden": "true" });
    bar.style.width = `${(100 * part.strength) / (parts[0] as Force).strength}%`;
    list.append(element("li", {}, element("span", {}, named(part, heads, name)), element("span", { class: "pullbox" }, bar), element("b", {}, share(part.strength))));
  }
  const byHead = Array.from({ length: heads > 1 ? heads : 0 }, (_, h) => parts.reduce((sum, { head, strength }) => sum + (head === h ? strength : 0), 0));
  const split = byHead.length === 0 ? "" : `Head by head: ${byHead.map((strength, h) => `${h + 1} gives ${share(strength)}`).join(", ")}. `;
  const rest = element("p", { class: "small" }, `${split}Added up, ${share(speed)} of all pulls remain: speed ${compactNumber(speed, 2)}.`);
  return [title, list, rest];
}
