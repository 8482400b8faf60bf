/** Which colour a cluster gets: those that live longest and weigh most get the first, so that the end is easy to tell apart. */
import type { Frame } from "./frames";

/** slots[label] is the place of the label in the palette. Labels keep their own number until a run is over. */
export function identitySlots(n: number): Uint16Array {
  return Uint16Array.from({ length: n + 1 }, (_, label) => label);
}

/** Walk from the last frame back: a label met earlier on that walk lived longer. */
export function colorSlots(frames: readonly Frame[], n: number): Uint16Array {
  const slots = new Uint16Array(n + 1);
  const known = new Uint8Array(n + 1);
  const counts = new Uint32Array(n + 1);
  const fresh: number[] = [];
  let next = 0;
  for (let k = frames.length - 1; k >= 0 && next <= n; k--) {
    counts.fill(0);
    fresh.length = 0;
    for (const label of (frames[k] as Frame).labels) {
      if (label > n || known[label]) continue;
      if (counts[label] === 0) fresh.push(label);
      counts[label]! += 1;
    }
    fresh.sort((a, b) => (counts[b] as number) - (counts[a] as number) || a - b);
    for (const label of fresh) {
      known[label] = 1;
      slots[label] = next++;
    }
  }
  for (let label = 0; label <= n; label++) if (!known[label]) slots[label] = next++;
  return slots;
}
