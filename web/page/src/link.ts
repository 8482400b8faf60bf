/** The whole state in the address: `#s=` and base64url of the JSON without default values. */
import { clampState, type Clamp } from "./clamp";
import { DEFAULTS, VIEW_DEFAULTS, type State } from "./state";

export const LINK_LIMIT = 2000;

/** Only what differs from the defaults. */
export function compact(state: State): Record<string, unknown> {
  const out: Record<string, unknown> = { v: 1 };
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  for (const [key, value] of Object.entries(state)) {
    if (key !== "view" && !same(value, (DEFAULTS as unknown as Record<string, unknown>)[key])) out[key] = value;
  }
  const view: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(state.view)) {
    if (!same(value, (VIEW_DEFAULTS as unknown as Record<string, unknown>)[key])) view[key] = value;
  }
  if (Object.keys(view).length > 0) out["view"] = view;
  if (state.moved.length > 0) {
    out["moved"] = state.moved.map(([i, x]) => [i, x.map((c) => Number(c.toFixed(5)))]);
  }
  return out;
}

export function toBase64Url(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export function fromBase64Url(text: string): string {
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

/** The hash of a state: at most LINK_LIMIT characters; moved tokens are left out, and said, when they do not fit. */
export function encodeLink(state: State): { hash: string; dropped: Clamp[] } {
  const hash = "#s=" + toBase64Url(JSON.stringify(compact(state)));
  if (hash.length <= LINK_LIMIT) return { hash, dropped: [] };
  const bare = "#s=" + toBase64Url(JSON.stringify(compact({ ...state, moved: [] })));
  const why = `a link holds at most ${LINK_LIMIT} characters`;
  return { hash: bare, dropped: [{ key: "moved", asked: `${state.moved.length} tokens`, used: "0 tokens", why }] };
}

/** The state of a hash; never throws: what cannot be read is reported. */
export function decodeLink(hash: string): { state: State; clamped: Clamp[] } | null {
  const match = /^#?s=([A-Za-z0-9_-]*)$/.exec(hash);
  if (match === null) return null;
  const text = match[1] ?? "";
  const refuse = (why: string): { state: State; clamped: Clamp[] } => ({
    state: clampState({}).state,
    clamped: [{ key: "link", asked: `${text.length} characters`, used: "the default state", why }],
  });
  if (text.length > 4 * LINK_LIMIT) return refuse("longer than any link this page makes");
  try {
    return clampState(JSON.parse(fromBase64Url(text)));
  } catch {
    return refuse("not a link of this page: copy it again in full");
  }
}
