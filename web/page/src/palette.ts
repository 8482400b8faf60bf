/** Colours: eight safe for colour-blind eyes for clusters, a cyclic wheel, two even ramps. */

export type Rgb = [number, number, number];

/** Okabe and Ito's palette; the black of the original gives way to grey, which both themes can show. */
export const CLUSTER_HEX = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8a8a8a"];
export const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "star", "hexagon", "x"] as const;

export function hexToRgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [((value >> 16) & 255) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

export function rgbToCss([r, g, b]: Rgb, alpha = 1): string {
  const byte = (x: number): number => Math.round(255 * Math.min(1, Math.max(0, x)));
  return `rgba(${byte(r)}, ${byte(g)}, ${byte(b)}, ${alpha})`;
}

const CLUSTER_RGB = CLUSTER_HEX.map(hexToRgb);

export function clusterColor(label: number): Rgb {
  return CLUSTER_RGB[label % CLUSTER_RGB.length] as Rgb;
}

/** The shape turns by one more each time the eight colours have been used: 64 different marks. */
export function clusterShape(label: number): number {
  return (label + Math.floor(label / CLUSTER_RGB.length)) % SHAPES.length;
}

function oklchToRgb(lightness: number, chroma: number, hue: number): Rgb {
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const gamma = (x: number): number => {
    const y = Math.min(1, Math.max(0, x));
    return y <= 0.0031308 ? 12.92 * y : 1.055 * y ** (1 / 2.4) - 0.055;
  };
  return [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

const SHADES = 256;
const turn = (lightness: number): Rgb[] =>
  Array.from({ length: SHADES }, (_, i) => oklchToRgb(lightness, 0.14, (2 * Math.PI * i) / SHADES + 0.45));
const DARK_WHEEL = turn(0.76);
const LIGHT_WHEEL = turn(0.62);

/** A wheel of even lightness: x in [0, 1) once around. Read from a table: nothing is made per token. */
export function wheel(x: number, dark: boolean): Rgb {
  return (dark ? DARK_WHEEL : LIGHT_WHEEL)[Math.floor((x - Math.floor(x)) * SHADES)] as Rgb;
}

type Stops = readonly Rgb[];
// Blue through grey-green to yellow: lightness grows evenly, and it reads the same without red or green.
const RAMP: Stops = ["#1b2a5c", "#2d4f7c", "#4a7086", "#73907f", "#a5ad6c", "#d9c85a", "#fbe87e"].map(hexToRgb);

function along(stops: Stops, x: number): Rgb {
  const place = Math.min(1, Math.max(0, x)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(place));
  const [a, b] = [stops[i], stops[i + 1]] as [Rgb, Rgb];
  const u = place - i;
  return [a[0] + u * (b[0] - a[0]), a[1] + u * (b[1] - a[1]), a[2] + u * (b[2] - a[2])];
}

const RAMP_TABLE = Array.from({ length: SHADES }, (_, i) => along(RAMP, i / (SHADES - 1)));

/** Even ramp for amounts, x in [0, 1]. */
export function ramp(x: number): Rgb {
  const place = Number.isNaN(x) ? 0 : Math.min(1, Math.max(0, x));
  return RAMP_TABLE[Math.round(place * (SHADES - 1))] as Rgb;
}

/** Relative luminance of sRGB, for contrast checks. */
export function luminance([r, g, b]: Rgb): number {
  const linear = (x: number): number => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
