/** What stands behind the tokens: the sphere, the circle, or the ball a projection falls into. */
import { Group, Mesh, ShaderMaterial, SphereGeometry, Vector3 } from "three";
import { hexToRgb } from "../palette";
import type { Theme } from "../theme";
import { Segments } from "./lines";

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
void main() { gl_FragColor = vec4(color, strength * (0.12 + 0.88 * pow(vEdge, 2.4)) * (1.0 - smoothstep(0.9, 1.0, vEdge))); }`;

export type Backdrop = "sphere" | "circle" | "ball" | "none";

function shell(): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: SHELL_VERTEX,
    fragmentShader: SHELL_FRAGMENT,
    transparent: true,
    depthWrite: false,
    uniforms: { color: { value: new Vector3() }, strength: { value: 0.5 } },
  });
}

/** Segments of a ring; each costs as much as a token where the processor draws. */
const STEPS = 48;
const PARALLELS = [-60, -30, 0, 30, 60].map((degrees) => Math.sin((degrees * Math.PI) / 180));

type Ring = (u: number) => [number, number, number];

/** Six meridians and five parallels, or the unit circle, each a closed chain of segments. */
function rings(list: readonly Ring[], strength: number, steps = STEPS): Segments {
  const made = new Segments(list.length * steps, list.length > 1 ? "sphere" : "circle", 1, 0.28);
  const turn = (2 * Math.PI) / steps;
  for (const at of list) for (let k = 0; k < steps; k++) made.segment(at(turn * k), at(turn * (k + 1)), [0, 0, 0], strength);
  made.commit();
  return made;
}

const graticule = (): Ring[] => [
  ...Array.from({ length: 6 }, (_, m): Ring => {
    const [c, s] = [Math.cos((m * Math.PI) / 6), Math.sin((m * Math.PI) / 6)];
    return (u) => [c * Math.cos(u), s * Math.cos(u), Math.sin(u)];
  }),
  ...PARALLELS.map((z): Ring => {
    const r = Math.sqrt(1 - z * z);
    return (u) => [r * Math.cos(u), r * Math.sin(u), z];
  }),
];

export class Globe {
  readonly object = new Group();
  private readonly shell = new Mesh(new SphereGeometry(1, 64, 48), shell());
  private readonly grid = rings(graticule(), 0.36);
  private readonly circle = rings([(u) => [Math.cos(u), Math.sin(u), 0]], 0.8, 160);

  constructor() {
    this.shell.renderOrder = 0;
    this.object.add(this.shell, this.grid.object, this.circle.object);
  }

  show(kind: Backdrop): void {
    this.shell.visible = kind === "sphere" || kind === "ball";
    this.grid.object.visible = kind === "sphere";
    this.circle.object.visible = kind === "circle";
  }

  theme(theme: Theme): void {
    const rgb = hexToRgb(theme.dark ? "#8fb3e0" : "#5b7699");
    const shell = this.shell.material as ShaderMaterial;
    (shell.uniforms["color"] as { value: Vector3 }).value.set(...rgb);
    (shell.uniforms["strength"] as { value: number }).value = theme.dark ? 0.5 : 0.55;
    for (const lines of [this.grid, this.circle]) {
      const { visible } = lines.object;
      lines.paint((_, channel) => rgb[channel] as number);
      lines.object.visible = visible;
    }
  }

  dispose(): void {
    this.shell.geometry.dispose();
    (this.shell.material as ShaderMaterial).dispose();
    for (const lines of [this.grid, this.circle]) lines.dispose();
  }
}
