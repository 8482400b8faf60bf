/** The tokens: one point each, its shape drawn by the shader, moved between two frames on the graphics card. */
import type { Surface } from "./surface";
import { AdditiveBlending, BufferAttribute, BufferGeometry, DynamicDrawUsage, Group, Points, ShaderMaterial, Vector3 } from "three";
import { hexToRgb } from "../palette";

const VERTEX = /* glsl */ `
attribute vec3 after;
attribute vec3 tint;
attribute float shape;
attribute float glow;
attribute float size;
uniform float mixing;
uniform float onSphere;
uniform float shaded;
uniform float radius;
uniform float pixels;
uniform float lit;
uniform float spread;
uniform float tokens;
varying float vLight;
varying vec3 vTint;
varying float vShape;
varying float vFront;
varying float vStrength;
varying float vPixels;
varying float vSeed;
void main() {
  vSeed = 0.37 * float(gl_VertexID);
  vec3 p = mix(position, after, mixing);
  if (onSphere > 0.5 && dot(p, p) > 1e-4) p = normalize(p);
  vec4 eye = modelViewMatrix * vec4(p, 1.0);
  vec3 outward = normalize((modelViewMatrix * vec4(p, 0.0)).xyz + vec3(1e-6));
  float facing = -dot(normalize(eye.xyz), outward);
  vFront = mix(0.75 + 0.25 * clamp(eye.z + 4.0, 0.0, 1.0), smoothstep(-0.22, 0.1, facing), shaded);
  vStrength = mix(1.0, 0.5 + 0.5 * glow, lit);
  vTint = tint;
  vShape = shape;
  float crowd = max(1.0, tokens * pow(max(size - 1.0, 0.0) / 1.5, 2.0)); // tokens of its cluster
  vLight = pow(crowd, -0.85) * mix(0.12, 1.0, vFront) * vStrength;
  vPixels = radius * size * (1.0 + 0.7 * glow * lit) * (0.72 + 0.28 * vFront) * pixels / -eye.z;
  gl_PointSize = 2.0 * spread * max(vPixels, 1.6);
  gl_Position = projectionMatrix * eye;
}`;

const FRAGMENT = /* glsl */ `
uniform vec3 paper;
uniform vec3 rim;
uniform float kind; // balls, shapes, hollow, flat
varying vec3 vTint;
varying float vShape;
varying float vFront;
varying float vStrength;
varying float vPixels;
float plus(vec2 p) {
  vec2 q = abs(p);
  return min(max(q.x - 0.27, q.y - 0.86), max(q.y - 0.27, q.x - 0.86));
}
float star(vec2 p) {
  float turn = 6.2831853 / 5.0;
  float angle = atan(p.x, p.y);
  angle = abs(mod(angle + turn * 0.5, turn) - turn * 0.5);
  vec2 q = length(p) * vec2(sin(angle), cos(angle));
  vec2 tip = vec2(0.0, 0.96);
  vec2 notch = 0.42 * vec2(sin(turn * 0.5), cos(turn * 0.5));
  vec2 edge = notch - tip;
  vec2 normal = normalize(vec2(-edge.y, edge.x));
  return dot(q - tip, normal); // positive outside
}
float shapeDistance(vec2 p, float shape) {
  vec2 q = abs(p);
  if (shape < 0.5) return length(p) - 0.8;
  if (shape < 1.5) return max(q.x, q.y) - 0.68;
  if (shape < 2.5) return max(q.x * 0.866 + p.y * 0.5, -p.y) - 0.5;
  if (shape < 3.5) return (q.x + q.y - 0.95) * 0.7071;
  if (shape < 4.5) return plus(p);
  if (shape < 5.5) return star(p);
  if (shape < 6.5) return max(q.x * 0.866 + q.y * 0.5, q.y) - 0.72;
  return plus(mat2(0.7071, -0.7071, 0.7071, 0.7071) * p);
}
void main() {
  vec2 p = vec2(2.0, -2.0) * (gl_PointCoord - 0.5);
  float soft = 1.2 / max(vPixels, 1.6);
  bool ball = kind < 0.5 || kind > 1.5;
  float distance = vPixels < 2.6 || ball ? length(p) - (ball ? 0.92 : 0.85) : shapeDistance(p, vShape);
  float alpha = 1.0 - smoothstep(-soft, soft * 0.4, distance);
  if (alpha < 0.03) discard;
  float line = clamp(1.6 / max(vPixels, 1.6), 0.1, 0.22);
  float border = vPixels < 3.5 ? 0.0 : smoothstep(-line - soft, -line, distance);
  vec3 color = mix(vTint, rim, border * 0.85);
  if (kind > 2.5) { // side by side without seams
    if (distance > 0.0) discard;
    color = vTint;
    alpha = 1.0;
  } else if (kind > 1.5) {
    color = vTint;
    alpha *= smoothstep(-0.34 - soft, -0.34, distance);
    if (alpha < 0.03) discard;
  } else if (ball) { // lit from above on the left
    vec2 q = p / 0.92;
    float light = dot(vec3(q, sqrt(max(0.0, 1.0 - dot(q, q)))), vec3(-0.42, 0.58, 0.70));
    color = vTint * (0.62 + 0.46 * max(light, 0.0)) + vec3(0.45 * pow(max(light, 0.0), 18.0));
    color = mix(color, 0.5 * vTint, 0.6 * smoothstep(-0.12 - soft, -0.02, distance));
  }
  color = mix(paper, color, mix(0.48, 1.0, vFront));
  color = mix(paper, color, vStrength);
  gl_FragColor = vec4(color, alpha * mix(0.7, 1.0, vStrength));
}`;

/** A light around every token, for the dark: added to what is there. */
const GLOW = /* glsl */ `
uniform float grain;
varying float vSeed;
varying float vLight;
varying vec3 vTint;
void main() {
  float r = length(2.0 * gl_PointCoord - 1.0);
  float rest = max(0.0, 1.0 - r);
  float light = 0.5 * vLight * rest * rest;
  if (light < 0.002) discard;
  light += grain * (fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233)) + vSeed) * 43758.5453) - 0.5) / 120.0; // else rings are seen
  gl_FragColor = vec4(vTint, max(0.0, light));
}`;
const SPREAD = 3.4;
/** Beyond this many tokens their lights are a fog. */
const MOST_LIGHTS = 512;

export class TokenMarks {
  readonly object = new Group();
  private readonly points: Points<BufferGeometry, ShaderMaterial>;
  private readonly lights: Points<BufferGeometry, ShaderMaterial>;
  readonly sizes: Float32Array;
  readonly before: Float32Array;
  readonly after: Float32Array;
  readonly tints: Float32Array;
  readonly shapes: Float32Array;
  readonly glow: Float32Array;
  readonly radius: number;

  constructor(n: number, surface: Surface, private readonly kind: "tokens" | "density" | "hollow") {
    this.before = new Float32Array(3 * n);
    this.after = new Float32Array(3 * n);
    this.tints = new Float32Array(3 * n);
    this.shapes = new Float32Array(n);
    this.glow = new Float32Array(n);
    this.sizes = new Float32Array(n).fill(1);
    const room = surface === "circle" ? 1.5 : 1; // beside a circle
    this.radius = surface === "sphere" && kind === "density" ? 3 / Math.sqrt(n) : markRadius(n) * room * (kind === "hollow" ? 1.3 : 1);
    const geometry = new BufferGeometry();
    const add = (name: string, data: Float32Array, size: number): void => {
      geometry.setAttribute(name, new BufferAttribute(data, size).setUsage(DynamicDrawUsage));
    };
    add("position", this.before, 3);
    add("after", this.after, 3);
    add("tint", this.tints, 3);
    add("shape", this.shapes, 1);
    add("glow", this.glow, 1);
    add("size", this.sizes, 1);
    const uniforms = {
      mixing: { value: 0 },
      onSphere: { value: surface === "none" ? 0 : 1 },
      shaded: { value: surface === "sphere" ? 1 : 0 },
      radius: { value: this.radius },
      pixels: { value: 1 },
      lit: { value: 0 },
      paper: { value: new Vector3() },
      rim: { value: new Vector3() },
      kind: { value: 0 },
      tokens: { value: n },
      grain: { value: 1 },
    };
    const drawn = (fragmentShader: string, spread: number, more: object): Points<BufferGeometry, ShaderMaterial> => {
      const material = new ShaderMaterial({ vertexShader: VERTEX, fragmentShader, transparent: true, uniforms: { ...uniforms, spread: { value: spread } }, ...more });
      const points = new Points(geometry, material);
      points.frustumCulled = false;
      this.object.add(points);
      return points;
    };
    this.lights = drawn(GLOW, SPREAD, { depthWrite: false, depthTest: false, blending: AdditiveBlending });
    this.lights.renderOrder = 2;
    this.lights.visible = false;
    this.points = drawn(FRAGMENT, 1, { depthTest: kind !== "hollow" });
    this.points.renderOrder = kind === "hollow" ? 5 : 3;
  }

  /** Three coordinates of every token between the two frames. */
  at(u: number, onSphere: boolean): Float32Array {
    const points = this.before.map((x, m) => (1 - u) * x + u * (this.after[m] as number));
    for (let i = 0; onSphere && i < points.length; i += 3) {
      const length = Math.hypot(points[i] as number, points[i + 1] as number, points[i + 2] as number) || 1;
      for (let c = 0; c < 3; c++) points[i + c]! /= length;
    }
    return points;
  }

  /** Lights around tokens, and shapes in place of balls. */
  dress(dark: boolean, shapes: boolean): void {
    this.lights.visible = dark && !shapes && this.kind === "tokens" && this.glow.length <= MOST_LIGHTS;
    this.uniform("kind", this.kind === "hollow" ? 2 : this.kind === "density" ? 3 : shapes ? 1 : 0);
  }

  changed(...names: ("position" | "after" | "tint" | "shape" | "glow" | "size")[]): void {
    for (const name of names) (this.points.geometry.getAttribute(name) as BufferAttribute).needsUpdate = true;
  }

  /** Both drawings share their uniforms. */
  uniform(name: "mixing" | "pixels" | "lit" | "kind" | "grain", value: number): void {
    (this.points.material.uniforms[name] as { value: number }).value = value;
  }

  color(name: "paper" | "rim", hex: string): void {
    const [r, g, b] = hexToRgb(hex);
    (this.points.material.uniforms[name] as { value: Vector3 }).value.set(r, g, b);
  }

  dispose(): void {
    this.points.geometry.dispose();
    for (const drawn of [this.points, this.lights]) drawn.material.dispose();
  }
}

/** Marks shrink as tokens become many, so that the sphere never fills up. */
export function markRadius(n: number): number {
  return Math.min(0.07, Math.max(0.012, 0.046 * Math.sqrt(96 / Math.max(1, n))));
}
