/** Rings: one around every cluster, its area the cluster's mass, and one around the selected token. */
import type { Surface } from "./surface";
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Points, ShaderMaterial } from "three";

const VERTEX = /* glsl */ `
attribute vec3 after;
attribute vec3 tint;
attribute float size;
uniform float mixing;
uniform float pixels;
uniform float onSphere;
uniform float shaded;
varying vec4 vColor;
varying float vPixels;
void main() {
  vec3 p = mix(position, after, mixing);
  if (onSphere > 0.5 && dot(p, p) > 1e-4) p = normalize(p);
  vec4 eye = modelViewMatrix * vec4(p, 1.0);
  float facing = -dot(normalize(eye.xyz), normalize((modelViewMatrix * vec4(p, 0.0)).xyz + vec3(1e-6)));
  vColor = vec4(tint, mix(1.0, mix(0.3, 1.0, smoothstep(-0.25, 0.15, facing)), shaded));
  vPixels = size * pixels / -eye.z;
  gl_PointSize = 2.0 * vPixels + 4.0;
  gl_Position = projectionMatrix * eye;
}`;
const FRAGMENT = /* glsl */ `
uniform float filling;
varying vec4 vColor;
varying float vPixels;
void main() {
  float r = length(2.0 * gl_PointCoord - 1.0) * (vPixels + 2.0);
  float ring = 1.0 - smoothstep(0.6, 1.6, abs(r - vPixels));
  float inside = filling * (1.0 - smoothstep(vPixels - 1.0, vPixels, r));
  float alpha = max(ring * 0.9, inside);
  if (alpha < 0.01) discard;
  gl_FragColor = vec4(vColor.rgb, alpha * vColor.a);
}`;

export class Halos {
  readonly object: Points<BufferGeometry, ShaderMaterial>;
  readonly before: Float32Array;
  readonly after: Float32Array;
  readonly tints: Float32Array;
  readonly sizes: Float32Array;

  constructor(readonly capacity: number, surface: Surface, filling: number, renderOrder: number) {
    this.before = new Float32Array(3 * capacity);
    this.after = new Float32Array(3 * capacity);
    this.tints = new Float32Array(3 * capacity);
    this.sizes = new Float32Array(capacity);
    const geometry = new BufferGeometry();
    const add = (name: string, data: Float32Array, size: number): void => {
      geometry.setAttribute(name, new BufferAttribute(data, size).setUsage(DynamicDrawUsage));
    };
    add("position", this.before, 3);
    add("after", this.after, 3);
    add("tint", this.tints, 3);
    add("size", this.sizes, 1);
    geometry.setDrawRange(0, 0);
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      depthTest: false,
      uniforms: { mixing: { value: 0 }, pixels: { value: 1 }, onSphere: { value: surface === "none" ? 0 : 1 },
        shaded: { value: surface === "sphere" ? 1 : 0 }, filling: { value: filling } },
    });
    this.object = new Points(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = renderOrder;
  }

  commit(count: number): void {
    this.object.geometry.setDrawRange(0, count);
    this.object.visible = count > 0;
    for (const name of ["position", "after", "tint", "size"]) {
      (this.object.geometry.getAttribute(name) as BufferAttribute).needsUpdate = true;
    }
  }

  uniform(name: "mixing" | "pixels", value: number): void {
    (this.object.material.uniforms[name] as { value: number }).value = value;
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}
