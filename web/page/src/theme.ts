/** Light and dark: the colours that canvases need; style sheets have their own copy of the same. */
import type { SeriesName } from "./run";
import type { ThemeChoice } from "./state";

export interface Theme {
  dark: boolean;
  ink: string;
  muted: string;
  grid: string;
  paper: string;
  panel: string;
  accent: string;
  plateau: string;
  series: Record<SeriesName, string>;
}

export const LIGHT: Theme = {
  dark: false,
  ink: "#1d2430",
  muted: "#5a6372",
  grid: "#dfe3ea",
  paper: "#f6f7f9",
  panel: "#ffffff",
  accent: "#0b5cad",
  plateau: "#e3ecf8",
  series: { energy: "#b04a00", clusters: "#00599c", largest: "#00704f", cosine: "#97447a" },
};

export const DARK: Theme = {
  dark: true,
  ink: "#e8ecf3",
  muted: "#a3adbd",
  grid: "#2a3242",
  paper: "#0e1219",
  panel: "#151b26",
  accent: "#7cb8ff",
  plateau: "#1d2b42",
  series: { energy: "#ff9a4d", clusters: "#63b6f2", largest: "#36c79a", cosine: "#e39bc4" },
};

export function resolveTheme(choice: ThemeChoice): Theme {
  if (choice === "light") return LIGHT;
  if (choice === "dark") return DARK;
  return matchMedia("(prefers-color-scheme: dark)").matches ? DARK : LIGHT;
}

export function nextTheme(choice: ThemeChoice): ThemeChoice {
  if (choice === "auto") return resolveTheme("auto").dark ? "light" : "dark";
  return choice === "light" ? "dark" : "light";
}

/** True when the person asked for less motion. */
export function prefersStill(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
