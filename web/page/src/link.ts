/** A run in the address: `#s=` and base64url of a compressed JSON object, the experiment and how it is looked at. */
import type { Accepted } from "./run";
import { defaultState, VIEW_DEFAULTS, type Asked, type State } from "./state";

/** Tokens moved by hand have nine digits each; browsers and servers take addresses far longer than this. */
export const LINK_LIMIT = 8000;

/** What differs from the defaults. */
function different(values: object, defaults: object): Asked {
  const usual = defaults as Asked;
  return Object.fromEntries(Object.entries(values).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(usual[key])));
}

/** What a link holds: the experiment as the server wrote it, or, for what is only shown, the keys of the state. */
export function content(accepted: Pick<Accepted, "experiment">, state: State): Asked {
  const { view, preset, ...run } = state;
  const looked = different(view, VIEW_DEFAULTS);
  return {
    v: 2,
    ...(accepted.experiment ? { experiment: accepted.experiment } : different(run, defaultState())),
    ...(preset === null ? {} : { preset }),
    ...(Object.keys(looked).length === 0 ? {} : { view: looked }),
  };
}

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const piped = new Blob([bytes as BlobPart]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

const fromBase64Url = (text: string): Uint8Array => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

async function packed(held: Asked): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(held));
  return "#s=" + toBase64Url(await through(bytes, new CompressionStream("deflate")));
}

/** A start as it was before tokens were moved by hand. */
function unmoved(start: Asked): Asked {
  if (start["kind"] === "Moved") return unmoved(start["start"] as Asked);
  return start["start"] === undefined ? start : { ...start, start: unmoved(start["start"] as Asked) };
}

/** The hash of a run: at most LINK_LIMIT characters; moved tokens are left out when they do not fit. */
export async function encodeLink(held: Asked): Promise<{ hash: string; dropped: boolean }> {
  const hash = await packed(held);
  const experiment = held["experiment"] as Asked | undefined;
  if (hash.length <= LINK_LIMIT || experiment === undefined) return { hash, dropped: false };
  const start = unmoved(experiment["start"] as Asked);
  return { hash: await packed({ ...held, experiment: { ...experiment, start } }), dropped: true };
}

/** What a hash holds, or a sentence on why it cannot be read; links of before are JSON as it is. */
export async function decodeLink(hash: string): Promise<Asked | string | null> {
  const match = /^#?s=([A-Za-z0-9_-]*)$/.exec(hash);
  if (match === null) return null;
  const text = match[1] ?? "";
  if (text.length > 4 * LINK_LIMIT) return "The link is longer than any link of this page: here is the default state.";
  try {
    const bytes = fromBase64Url(text);
    const raw = bytes[0] === "{".charCodeAt(0) ? bytes : await through(bytes, new DecompressionStream("deflate"));
    const found: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return found as Asked;
  } catch {
    // said below
  }
  return "This is not a link of this page: copy it again in full. Here is the default state.";
}
