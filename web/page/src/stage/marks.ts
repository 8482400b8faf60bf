/** The tokens: one point each, its shape drawn by the shader, moved between two frames on the graphics card. */
import type { Surface } from "./surface";
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Points, ShaderMaterial, Vector3 } from "three";
import { hexToRgb } from "../palette";

const VERTEX = /* glsl */ `
attribute vec3 after;
attribute vec3 tint;
attribute float shape;
attribute float glow;
uniform float mixing;
uniform float onSphere;
uniform float shaded;
uniform float radius;
uniform float pixels;
uniform float lit;
varying vec3 vTint;
varying float vShape;
varying float vFront;
varying float vStrength;
varying float vPixels;
void main() {
  vec3 p = mix(position, after, mixing);
  if (onSphere > 0.5 && dot(p, p) > 1e-4) p = normalize(p);
  vec4 eye = modelViewMatrix * vec4(p, 1.0);
  vec3 outward = normalize((modelViewMatrix * vec4(p, 0.0)).xyz + vec3(1e-6));
  float facing = -dot(normalize(eye.xyz), outward);
  vFront = mix(0.75 + 0.25 * clamp(eye.z + 4.0, 0.0, 1.0), smoothstep(-0.22, 0.1, facing), shaded);
  vStrength = mix(1.0, 0.34 + 0.66 * glow, lit);
  vTint = tint;
  vShape = shape;
  vPixels = radius * (1.0 + 0.7 * glow * lit) * (0.72 + 0.28 * vFront) * pixels / -eye.z;
  gl_PointSize = 2.0 * max(vPixels, 1.6);
  gl_Position = projectionMatrix * eye;
}`;

const FRAGMENT = /* glsl */ `
uniform vec3 paper;
uniform vec3 rim;
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
  return dot(q - tip, -normal);
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
  float distance = vPixels < 2.6 ? length(p) - 0.85 : shapeDistance(p, vShape);
  float alpha = 1.0 - smoothstep(-soft, soft * 0.4, distance);
  if (alpha < 0.03) discard;
  float line = clamp(1.6 / max(vPixels, 1.6), 0.1, 0.22);
  float border = vPixels < 3.5 ? 0.0 : smoothstep(-line - soft, -line, distance);
  vec3 color = mix(vTint, rim, border * 0.85);
  color = mix(paper, color, mix(0.48, 1.0, vFront));
  color = mix(paper, color, vStrength);
  gl_FragColor = vec4(color, alpha * mix(0.7, 1.0, vStrength));
}`;

export class TokenMarks {
  readonly object: Points<BufferGeometry, ShaderMaterial>;
  readonly before: Float32Array;
  readonly after: Float32Array;
  readonly tints: Float32Array;
  readonly shapes: Float32Array;
  readonly glow: Float32Array;
  readonly radius: number;

  constructor(n: number, surface: Surface) {
    this.before = new Float32Array(3 * n);
    this.after = new Float32Array(3 * n);
    this.tints = new Float32Array(3 * n);
    this.shapes = new Float32Array(n);
    this.glow = new Float32Array(n);
    this.radius = markRadius(n) * (surface === "circle" ? 1.5 : 1); // a circle has room beside it
    const geometry = new BufferGeometry();
    const add = (name: string, data: Float32Array, size: number): void => {
      geometry.setAttribute(name, new BufferAttribute(data, size).setUsage(DynamicDrawUsage));
    };
    add("position", this.before, 3);
    add("after", this.after, 3);
    add("tint", this.tints, 3);
    add("shape", this.shapes, 1);
    add("glow", this.glow, 1);
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      uniforms: {
        mixing: { value: 0 },
        onSphere: { value: surface === "none" ? 0 : 1 },
        shaded: { value: surface === "sphere" ? 1 : 0 },
        radius: { value: this.radius },
        pixels: { value: 1 },
        lit: { value: 0 },
        paper: { value: new Vector3() },
        rim: { value: new Vector3() },
      },
    });
    this.object = new Points(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 3;
  }

  changed(...names: ("position" | "after" | "tint" | "shape" | "glow")[]): void {
    for (const name of names) (this.object.geometry.getAttribute(name) as BufferAttribute).needsUpdate = true;
  }

  uniform(name: "mixing" | "pixels" | "lit", value: number): void {
    (this.object.material.uniforms[name] as { value: number }).value = value;
  }

  color(name: "paper" | "rim", hex: string): void {
    const [r, g, b] = hexToRgb(hex);
    (this.object.material.uniforms[name] as { value: Vector3 }).value.set(r, g, b);
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}

/** Marks shrink as tokens become many, so that the sphere never fills up. */
export function markRadius(n: number): number {
  return Math.min(0.07, Math.max(0.012, 0.046 * Math.sqrt(96 / Math.max(1, n))));
}
