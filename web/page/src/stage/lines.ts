/** Paths: short tails behind every token, the whole trail of the selected one, arcs to what it attends to. */
import type { Surface } from "./surface";
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, LineSegments, ShaderMaterial } from "three";

const VERTEX = /* glsl */ `
attribute vec3 after;
attribute vec3 tint;
attribute float fade;
uniform float mixing;
uniform float onSphere;
uniform float shaded;
varying vec4 vColor;
void main() {
  vec3 p = mix(position, after, mixing);
  if (onSphere > 0.5 && dot(p, p) > 1e-4) p = normalize(p);
  vec4 eye = modelViewMatrix * vec4(p, 1.0);
  float facing = -dot(normalize(eye.xyz), normalize((modelViewMatrix * vec4(p, 0.0)).xyz + vec3(1e-6)));
  float front = mix(1.0, smoothstep(-0.25, 0.15, facing), shaded);
  vColor = vec4(tint, fade * mix(0.25, 1.0, front));
  gl_Position = projectionMatrix * eye;
}`;
const FRAGMENT = /* glsl */ `
varying vec4 vColor;
void main() { gl_FragColor = vColor; }`;

/** A preallocated bag of line segments whose ends slide between two frames. */
export class Segments {
  readonly object: LineSegments<BufferGeometry, ShaderMaterial>;
  private readonly before: Float32Array;
  private readonly after: Float32Array;
  private readonly tints: Float32Array;
  private readonly fades: Float32Array;
  private ends = 0;

  constructor(readonly capacity: number, surface: Surface, renderOrder: number) {
    const vertices = 2 * capacity;
    this.before = new Float32Array(3 * vertices);
    this.after = new Float32Array(3 * vertices);
    this.tints = new Float32Array(3 * vertices);
    this.fades = new Float32Array(vertices);
    const geometry = new BufferGeometry();
    const add = (name: string, data: Float32Array, size: number): void => {
      geometry.setAttribute(name, new BufferAttribute(data, size).setUsage(DynamicDrawUsage));
    };
    add("position", this.before, 3);
    add("after", this.after, 3);
    add("tint", this.tints, 3);
    add("fade", this.fades, 1);
    geometry.setDrawRange(0, 0);
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      uniforms: { mixing: { value: 0 }, onSphere: { value: surface === "none" ? 0 : 1 },
        shaded: { value: surface === "sphere" ? 1 : 0 } },
    });
    this.object = new LineSegments(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = renderOrder;
  }

  clear(): void {
    this.ends = 0;
  }

  /** One end of a segment: token i of two projected frames, a colour, an opacity. */
  end(a: Float32Array, b: Float32Array, i: number, tints: Float32Array, tint: number, fade: number): void {
    const k = this.ends;
    if (k >= 2 * this.capacity) return;
    for (let c = 0; c < 3; c++) {
      this.before[3 * k + c] = a[3 * i + c] as number;
      this.after[3 * k + c] = b[3 * i + c] as number;
      this.tints[3 * k + c] = tints[3 * tint + c] as number;
    }
    this.fades[k] = fade;
    this.ends += 1;
  }

  commit(): void {
    const geometry = this.object.geometry;
    geometry.setDrawRange(0, this.ends - (this.ends % 2));
    this.object.visible = this.ends > 1; // nothing to draw: no shader to compile either
    for (const name of ["position", "after", "tint", "fade"]) {
      const attribute = geometry.getAttribute(name) as BufferAttribute;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, this.ends * attribute.itemSize);
      attribute.needsUpdate = true;
    }
  }

  mixing(value: number): void {
    (this.object.material.uniforms["mixing"] as { value: number }).value = value;
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}
