/** From a place on the screen to a token, or to a point of the sphere. */
import { type Camera, type Group, Ray, Sphere, Vector3 } from "three";

const REACH = 16;

/** The token nearest to a click, those in front first; null when none is within reach. */
export function pickToken(positions: Float32Array, camera: Camera, turntable: Group, width: number, height: number, x: number, y: number): number | null {
  const p = new Vector3();
  let best: number | null = null;
  let least = Infinity;
  for (let i = 0; i < positions.length / 3; i++) {
    p.fromArray(positions, 3 * i).multiplyScalar(turntable.scale.x).applyQuaternion(turntable.quaternion);
    const behind = p.z < 0 ? 6 : 0;
    p.project(camera);
    const distance = Math.hypot(((p.x + 1) / 2) * width - x, ((1 - p.y) / 2) * height - y);
    if (distance < REACH && distance + behind < least) {
      least = distance + behind;
      best = i;
    }
  }
  return best;
}

function sight(camera: Camera, width: number, height: number, x: number, y: number): Ray {
  const ray = new Ray(new Vector3().setFromMatrixPosition(camera.matrixWorld));
  ray.direction.set((2 * x) / width - 1, 1 - (2 * y) / height, 0.5).unproject(camera).sub(ray.origin).normalize();
  return ray;
}

/** The point of the unit circle (drawn in the plane of the screen) in the direction of a place on it. */
export function pointOnCircle(camera: Camera, width: number, height: number, x: number, y: number): [number, number] {
  const { origin, direction } = sight(camera, width, height, x, y);
  const far = -origin.z / direction.z;
  const [u, v] = [origin.x + far * direction.x, origin.y + far * direction.y];
  const length = Math.hypot(u, v);
  return length > 1e-9 ? [u / length, v / length] : [1, 0];
}

/** Where the line of sight meets the unit sphere (its nearest point when it misses), before rotation. */
export function pointOnSphere(camera: Camera, turntable: Group, width: number, height: number, x: number, y: number, out: Vector3): Vector3 {
  const ray = sight(camera, width, height, x, y);
  const sphere = new Sphere(new Vector3(), 1);
  if (ray.intersectSphere(sphere, out) === null) ray.closestPointToPoint(sphere.center, out);
  return out.applyQuaternion(turntable.quaternion.clone().invert()).normalize();
}
