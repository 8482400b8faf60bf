/** Paths: short tails behind every token, the whole trail of the selected one, arcs, and the lines of the globe. */
import type { Surface } from "./surface";
import { DoubleSide, DynamicDrawUsage, Float32BufferAttribute, InstancedBufferGeometry, InstancedInterleavedBuffer, InterleavedBufferAttribute, Mesh, ShaderMaterial, Vector2 } from "three";

/** Every segment is a strip of its own, as wide as asked on any screen, with soft edges: WebGL's lines have neither. */
const VERTEX = /* glsl */ `
attribute vec2 corner;
attribute vec3 head;
attribute vec3 foot;
attribute vec3 headAfter;
attribute vec3 footAfter;
attribute vec3 tint;
attribute vec2 fade;
uniform float mixing;
uniform float onSphere;
uniform float shaded;
uniform float far;
uniform float wide;
uniform vec2 canvas;
varying vec4 vColor;
varying float vSide;
vec3 place(vec3 a, vec3 b) {
  vec3 p = mix(a, b, mixing);
  return onSphere > 0.5 && dot(p, p) > 1e-4 ? normalize(p) : p;
}
void main() {
  vec3 p = corner.x < 0.5 ? place(head, headAfter) : place(foot, footAfter);
  vec3 q = corner.x < 0.5 ? place(foot, footAfter) : place(head, headAfter);
  vec4 eye = modelViewMatrix * vec4(p, 1.0);
  vec4 here = projectionMatrix * eye;
  vec4 there = projectionMatrix * modelViewMatrix * vec4(q, 1.0);
  vec2 along = (there.xy / there.w - here.xy / here.w) * canvas * (corner.x < 0.5 ? 1.0 : -1.0);
  vec2 across = length(along) > 1e-6 ? normalize(vec2(-along.y, along.x)) : vec2(0.0);
  here.xy += across * corner.y * (wide + 1.0) / canvas * here.w;
  float facing = -dot(normalize(eye.xyz), normalize((modelViewMatrix * vec4(p, 0.0)).xyz + vec3(1e-6)));
  float front = mix(1.0, smoothstep(-0.25, 0.15, facing), shaded);
  vColor = vec4(tint, (corner.x < 0.5 ? fade.x : fade.y) * mix(far, 1.0, front));
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

/** A preallocated bag of line segments whose ends slide between two frames. */
export class Segments {
  readonly object: Mesh<InstancedBufferGeometry, ShaderMaterial>;
  private readonly before: Float32Array;
  private readonly after: Float32Array;
  private readonly tints: Float32Array;
  private readonly fades: Float32Array;
  private readonly buffers: InstancedInterleavedBuffer[] = [];
  private ends = 0;

  constructor(readonly capacity: number, surface: Surface, renderOrder: number, far = 0.25) {
    this.before = new Float32Array(6 * capacity);
    this.after = new Float32Array(6 * capacity);
    this.tints = new Float32Array(3 * capacity);
    this.fades = new Float32Array(2 * capacity);
    const geometry = new InstancedBufferGeometry();
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    geometry.setAttribute("corner", new Float32BufferAttribute(CORNERS, 2));
    const add = (data: Float32Array, stride: number, parts: [string, number, number][]): void => {
      const buffer = new InstancedInterleavedBuffer(data, stride);
      buffer.setUsage(DynamicDrawUsage);
      this.buffers.push(buffer);
      for (const [name, size, offset] of parts) geometry.setAttribute(name, new InterleavedBufferAttribute(buffer, size, offset));
    };
    add(this.before, 6, [["head", 3, 0], ["foot", 3, 3]]);
    add(this.after, 6, [["headAfter", 3, 0], ["footAfter", 3, 3]]);
    add(this.tints, 3, [["tint", 3, 0]]);
    add(this.fades, 2, [["fade", 2, 0]]);
    geometry.instanceCount = 0;
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      depthTest: false,
      side: DoubleSide,
      uniforms: { mixing: { value: 0 }, onSphere: { value: surface === "none" ? 0 : 1 }, shaded: { value: surface === "sphere" ? 1 : 0 },
        far: { value: far }, wide: { value: WIDTH }, canvas: { value: new Vector2(1, 1) } },
    });
    this.object = new Mesh(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = renderOrder;
    this.object.onBeforeRender = (renderer) => {
      renderer.getDrawingBufferSize((material.uniforms["canvas"] as { value: Vector2 }).value);
      (material.uniforms["wide"] as { value: number }).value = WIDTH * renderer.getPixelRatio();
      material.uniformsNeedUpdate = true;
    };
  }

  clear(): void {
    this.ends = 0;
  }

  /** One end of a segment, two calls make one: token i of two projected frames, a colour, an opacity. */
  end(a: Float32Array, b: Float32Array, i: number, tints: Float32Array, tint: number, fade: number): void {
    const k = this.ends;
    if (k >= 2 * this.capacity) return;
    for (let c = 0; c < 3; c++) {
      this.before[3 * k + c] = a[3 * i + c] as number;
      this.after[3 * k + c] = b[3 * i + c] as number;
      if (k % 2 === 0) this.tints[(3 * k) / 2 + c] = tints[3 * tint + c] as number;
    }
    this.fades[k] = fade;
    this.ends += 1;
  }

  commit(): void {
    const count = Math.floor(this.ends / 2);
    this.object.geometry.instanceCount = count;
    this.object.visible = count > 0; // nothing to draw: no shader to compile either
    for (const buffer of this.buffers) {
      buffer.clearUpdateRanges();
      buffer.addUpdateRange(0, count * buffer.stride);
      buffer.needsUpdate = true;
    }
  }

  /** One colour for all of it. */
  paint(rgb: readonly number[]): void {
    for (let k = 0; k < this.tints.length; k++) this.tints[k] = rgb[k % 3] as number;
    this.commit();
  }

  mixing(value: number): void {
    (this.object.material.uniforms["mixing"] as { value: number }).value = value;
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}
