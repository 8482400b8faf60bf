/** What stands behind the tokens: the sphere, the circle, or the ball a projection falls into. */
import { BufferGeometry, Float32BufferAttribute, Group, LineSegments, Mesh, RingGeometry, ShaderMaterial, SphereGeometry, Vector3 } from "three";
import { hexToRgb } from "../palette";
import type { Theme } from "../theme";

const SHELL_VERTEX = /* glsl */ `
varying float vEdge;
void main() {
  vec4 eye = modelViewMatrix * vec4(position, 1.0);
  vEdge = 1.0 - abs(dot(normalize(eye.xyz), normalize((modelViewMatrix * vec4(position, 0.0)).xyz)));
  gl_Position = projectionMatrix * eye;
}`;
const SHELL_FRAGMENT = /* glsl */ `
uniform vec3 color;
uniform float strength;
varying float vEdge;
void main() { gl_FragColor = vec4(color, strength * (0.12 + 0.88 * pow(vEdge, 2.4))); }`;

const GRID_VERTEX = /* glsl */ `
varying float vFront;
void main() {
  vec4 eye = modelViewMatrix * vec4(position, 1.0);
  vFront = smoothstep(-0.15, 0.2, -dot(normalize(eye.xyz), normalize((modelViewMatrix * vec4(position, 0.0)).xyz)));
  gl_Position = projectionMatrix * eye;
}`;
const GRID_FRAGMENT = /* glsl */ `
uniform vec3 color;
uniform float strength;
varying float vFront;
void main() { gl_FragColor = vec4(color, strength * mix(0.28, 1.0, vFront)); }`;

export type Backdrop = "sphere" | "circle" | "ball" | "none";

function shader(vertexShader: string, fragmentShader: string, strength: number): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader,
    fragmentShader,
    transparent: true,
    depthWrite: false,
    uniforms: { color: { value: new Vector3() }, strength: { value: strength } },
  });
}

function graticule(): BufferGeometry {
  const points: number[] = [];
  const steps = 96;
  const ring = (at: (u: number) => [number, number, number]): void => {
    for (let k = 0; k < steps; k++) points.push(...at((2 * Math.PI * k) / steps), ...at((2 * Math.PI * (k + 1)) / steps));
  };
  for (let m = 0; m < 6; m++) {
    const [c, s] = [Math.cos((m * Math.PI) / 6), Math.sin((m * Math.PI) / 6)];
    ring((u) => [c * Math.cos(u), s * Math.cos(u), Math.sin(u)]);
  }
  for (const z of [-60, -30, 0, 30, 60].map((degrees) => Math.sin((degrees * Math.PI) / 180))) {
    const r = Math.sqrt(1 - z * z);
    ring((u) => [r * Math.cos(u), r * Math.sin(u), z]);
  }
  return new BufferGeometry().setAttribute("position", new Float32BufferAttribute(points, 3));
}

/** Half the width of the circle's line: a band, so that it is as wide on every screen. */
const LINE = 0.004;

export class Globe {
  readonly object = new Group();
  private readonly shell = new Mesh(new SphereGeometry(1, 64, 48), shader(SHELL_VERTEX, SHELL_FRAGMENT, 0.5));
  private readonly grid = new LineSegments(graticule(), shader(GRID_VERTEX, GRID_FRAGMENT, 0.7));
  private readonly circle = new Mesh(new RingGeometry(1 - LINE, 1 + LINE, 256), shader(GRID_VERTEX, GRID_FRAGMENT, 1));

  constructor() {
    this.shell.renderOrder = 0;
    this.grid.renderOrder = 1;
    this.circle.renderOrder = 1;
    this.object.add(this.shell, this.grid, this.circle);
  }

  show(kind: Backdrop): void {
    this.shell.visible = kind === "sphere" || kind === "ball";
    this.grid.visible = kind === "sphere";
    this.circle.visible = kind === "circle";
  }

  theme(theme: Theme): void {
    for (const part of [this.shell, this.grid, this.circle]) {
      const [r, g, b] = hexToRgb(theme.dark ? "#8fb3e0" : "#5b7699");
      const material = part.material as ShaderMaterial;
      (material.uniforms["color"] as { value: Vector3 }).value.set(r, g, b);
    }
    const shell = this.shell.material as ShaderMaterial;
    (shell.uniforms["strength"] as { value: number }).value = theme.dark ? 0.5 : 0.55;
  }

  dispose(): void {
    for (const part of [this.shell, this.grid, this.circle]) {
      part.geometry.dispose();
      (part.material as ShaderMaterial).dispose();
    }
  }
}
