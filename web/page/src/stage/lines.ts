/** Lines: the paths of tokens, the trail of the selected one, arcs, and the net of the globe. */
import type { Surface } from "./surface";
import { DoubleSide, DynamicDrawUsage, Float32BufferAttribute, InstancedBufferGeometry, InstancedInterleavedBuffer, InterleavedBufferAttribute, Mesh, ShaderMaterial, Vector2 } from "three";

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

const CORNERS = [0, -1, 0, 1, 1, 1, 1, -1];
/** CSS pixels. */
const WIDTH = 1.3;
/** Frames after which a path has faded to what stays of it. */
const RECENT = 12;

/** A preallocated bag of line segments. */
export class Segments {
  readonly object: Mesh<InstancedBufferGeometry, ShaderMaterial>;
  private readonly places: Float32Array;
  private readonly tints: Float32Array;
  /** Strength, and from when to when it is walked. */
  private readonly rest: Float32Array;
  private readonly buffers: InstancedInterleavedBuffer[] = [];
  protected count = 0;

  constructor(readonly capacity: number, surface: Surface, renderOrder: number, far = 0.25) {
    this.places = new Float32Array(6 * capacity);
    this.tints = new Float32Array(3 * capacity);
    this.rest = new Float32Array(3 * capacity);
    const geometry = new InstancedBufferGeometry();
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    geometry.setAttribute("corner", new Float32BufferAttribute(CORNERS, 2));
    const add = (data: Float32Array, stride: number, parts: [string, number, number][]): void => {
      const buffer = new InstancedInterleavedBuffer(data, stride);
      buffer.setUsage(DynamicDrawUsage);
      this.buffers.push(buffer);
      for (const [name, size, offset] of parts) geometry.setAttribute(name, new InterleavedBufferAttribute(buffer, size, offset));
    };
    add(this.places, 6, [["head", 3, 0], ["foot", 3, 3]]);
    add(this.tints, 3, [["tint", 3, 0]]);
    add(this.rest, 3, [["fade", 1, 0], ["when", 2, 1]]);
    geometry.instanceCount = 0;
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
    this.object = new Mesh(geometry, material);
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
    const k = this.count++;
    this.places.set(a, 6 * k);
    this.places.set(b, 6 * k + 3);
    this.tints.set(tint, 3 * k);
    this.rest.set([fade, from, to], 3 * k);
  }

  commit(): void {
    this.object.geometry.instanceCount = this.count;
    this.object.visible = this.count > 0; // nothing to draw: no shader to compile either
    for (const buffer of this.buffers) {
      buffer.clearUpdateRanges();
      buffer.addUpdateRange(0, this.count * buffer.stride);
      buffer.needsUpdate = true;
    }
  }

  /** Colours anew, three numbers per segment. */
  paint(color: (segment: number, channel: number) => number): void {
    for (let k = 0; k < 3 * this.count; k++) this.tints[k] = color(Math.floor(k / 3), k % 3);
    this.commit();
  }

  uniform(name: "now" | "least" | "wide", value: number): void {
    (this.object.material.uniforms[name] as { value: number }).value = value;
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}
