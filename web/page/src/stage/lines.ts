/** Lines: the paths of tokens, the trail of the selected one, arcs, and the net of the globe. */
import type { Surface } from "./surface";
import { BufferAttribute, BufferGeometry, DoubleSide, DynamicDrawUsage, Float32BufferAttribute, InterleavedBuffer, InterleavedBufferAttribute, Mesh, ShaderMaterial, Vector2 } from "three";

/**
 * Every segment is a strip of its own, as wide as asked on any screen, with soft edges: WebGL's lines have neither.
 * A segment that is walked between two times is drawn as far as the present moment, brightest where that was last.
 */
const VERTEX = /* glsl */ `
attribute vec2 corner;
attribute vec3 head;
attribute vec3 foot;
attribute vec3 tint;
attribute float fade;
attribute vec2 when;
uniform float now;
uniform float recent;
uniform float least;
uniform float onSphere;
uniform float shaded;
uniform float far;
uniform float wide;
uniform vec2 canvas;
varying vec4 vColor;
varying float vSide;
vec3 place(vec3 p) {
  return onSphere > 0.5 && dot(p, p) > 1e-4 ? normalize(p) : p;
}
void main() {
  bool walked = when.y > when.x;
  float end = walked ? clamp((now - when.x) / (when.y - when.x), 0.0, 1.0) : 1.0;
  vec3 last = mix(head, foot, end);
  vec3 p = place(corner.x < 0.5 ? head : last);
  vec3 q = place(corner.x < 0.5 ? last : head);
  vec4 eye = modelViewMatrix * vec4(p, 1.0);
  vec4 here = projectionMatrix * eye;
  vec4 there = projectionMatrix * modelViewMatrix * vec4(q, 1.0);
  vec2 along = (there.xy / there.w - here.xy / here.w) * canvas * (corner.x < 0.5 ? 1.0 : -1.0);
  vec2 across = length(along) > 1e-6 ? normalize(vec2(-along.y, along.x)) : vec2(0.0);
  here.xy += across * corner.y * (wide + 1.0) / canvas * here.w;
  float facing = -dot(normalize(eye.xyz), normalize((modelViewMatrix * vec4(p, 0.0)).xyz + vec3(1e-6)));
  float front = mix(1.0, smoothstep(-0.25, 0.15, facing), shaded);
  float age = walked ? now - (corner.x < 0.5 ? when.x : min(when.y, now)) : 0.0;
  float kept = walked ? (now <= when.x ? 0.0 : least + (1.0 - least) * exp(-age / recent)) : 1.0;
  vColor = vec4(tint, fade * kept * mix(far, 1.0, front));
  vSide = corner.y * (wide + 1.0) * 0.5;
  gl_Position = here;
}`;
const FRAGMENT = /* glsl */ `
uniform float wide;
varying vec4 vColor;
varying float vSide;
void main() {
  float cover = clamp(0.5 * (wide + 1.0) - abs(vSide), 0.0, 1.0);
  gl_FragColor = vec4(vColor.rgb, vColor.a * cover);
}`;

/** Which end of its segment a corner is at, and on which side. */
const CORNERS = [0, -1, 0, 1, 1, 1, 1, -1];
const TRIANGLES = [0, 1, 2, 0, 2, 3];
/** Numbers of a corner that stay: both ends, strength, from when to when it is walked. */
const STRIDE = 9;
/** CSS pixels. */
const WIDTH = 1.3;
/** Frames after which a path has faded to what stays of it. */
const RECENT = 12;

/** A preallocated bag of line segments; four corners each, since instances cost a renderer without a card far more. */
export class Segments {
  readonly object: Mesh<BufferGeometry, ShaderMaterial>;
  private readonly places: Float32Array;
  private readonly tints: Float32Array;
  private readonly geometry = new BufferGeometry();
  private readonly buffers: (InterleavedBuffer | BufferAttribute)[];
  protected count = 0;

  constructor(readonly capacity: number, surface: Surface, renderOrder: number, far = 0.25) {
    this.places = new Float32Array(4 * STRIDE * capacity);
    this.tints = new Float32Array(4 * 3 * capacity);
    const every = (list: readonly number[], step: number): number[] => Array.from({ length: capacity * list.length }, (_, k) => (list[k % list.length] as number) + step * Math.floor(k / list.length));
    this.geometry.setIndex(every(TRIANGLES, 4));
    this.geometry.setAttribute("corner", new Float32BufferAttribute(every(CORNERS, 0), 2));
    const places = new InterleavedBuffer(this.places, STRIDE);
    const tints = new BufferAttribute(this.tints, 3);
    for (const buffer of (this.buffers = [places, tints])) buffer.setUsage(DynamicDrawUsage);
    for (const [name, size, offset] of [["head", 3, 0], ["foot", 3, 3], ["fade", 1, 6], ["when", 2, 7]] as const) this.geometry.setAttribute(name, new InterleavedBufferAttribute(places, size, offset));
    this.geometry.setAttribute("tint", tints);
    this.geometry.setDrawRange(0, 0);
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      depthTest: false,
      side: DoubleSide,
      uniforms: { now: { value: 0 }, recent: { value: RECENT }, least: { value: 0 }, onSphere: { value: surface === "none" ? 0 : 1 },
        shaded: { value: surface === "sphere" ? 1 : 0 }, far: { value: far }, wide: { value: WIDTH }, canvas: { value: new Vector2(1, 1) } },
    });
    this.object = new Mesh(this.geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = renderOrder;
    this.object.onBeforeRender = (renderer) => {
      renderer.getDrawingBufferSize((material.uniforms["canvas"] as { value: Vector2 }).value);
      this.uniform("wide", WIDTH * renderer.getPixelRatio());
      material.uniformsNeedUpdate = true;
    };
  }

  clear(): void {
    this.count = 0;
  }

  /** One segment from a to b; with times, it is drawn once they have come. */
  segment(a: ArrayLike<number>, b: ArrayLike<number>, tint: ArrayLike<number>, fade: number, from = 0, to = 0): void {
    if (this.count >= this.capacity) return;
    for (let corner = 4 * this.count; corner < 4 * this.count + 4; corner++) {
      const at = STRIDE * corner;
      this.places.set(a, at);
      this.places.set(b, at + 3);
      this.places[at + 6] = fade;
      this.places[at + 7] = from;
      this.places[at + 8] = to;
      this.tints.set(tint, 3 * corner);
    }
    this.count += 1;
  }

  commit(...buffers: typeof this.buffers): void {
    this.geometry.setDrawRange(0, 6 * this.count);
    this.object.visible = this.count > 0; // nothing to draw: no shader to compile either
    for (const buffer of buffers.length > 0 ? buffers : this.buffers) {
      buffer.clearUpdateRanges();
      buffer.addUpdateRange(0, 4 * this.count * ("stride" in buffer ? buffer.stride : 3));
      buffer.needsUpdate = true;
    }
  }

  /** Colours anew, three numbers per segment. */
  paint(color: (segment: number, channel: number) => number): void {
    let changed = false;
    for (let k = 0; k < 12 * this.count; k++) {
      const value = Math.fround(color(Math.floor(k / 12), k % 3));
      changed ||= this.tints[k] !== value;
      this.tints[k] = value;
    }
    if (changed) this.commit(this.buffers[1] as BufferAttribute);
  }

  uniform(name: "now" | "least" | "wide", value: number): void {
    (this.object.material.uniforms[name] as { value: number }).value = value;
  }

  dispose(): void {
    this.geometry.dispose();
    this.object.material.dispose();
  }
}
