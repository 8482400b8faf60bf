/** What the page asks the server over HTTP. Same origin only. */
import { SITE } from "./sources/site";
import type { State } from "./state";

export class ServerError extends Error {
  constructor(
    readonly argument: string,
    message: string,
    readonly fix: string,
  ) {
    super(message);
  }
}

export interface Preset {
  id: string;
  title: string;
  study: string;
  reference: string;
  claim: string;
  group: "figures" | "failures";
  state: Partial<State>;
}

export interface AttentionAnswer {
  n: number;
  bins: number;
  order: number[];
  values: string;
  entropy: number[];
  /** Null for many tokens: singular values take too long. */
  rank: number | null;
  leaders: number[];
  binned: boolean;
}

export interface PhaseAxis {
  name: string;
  label: string;
  scale: "linear" | "log";
  values: number[];
}

export interface PhaseAnswer {
  x: PhaseAxis;
  y: PhaseAxis;
  values: (number | null)[][];
  theory: { label: string; x: number[]; y: number[] } | null;
  state: Partial<State>;
  cell: { x: string; y: string };
  running: boolean;
  done: number;
}

export interface UploadAnswer {
  file: string;
  kind: "tokens" | "weights" | "hidden";
  n: number;
  d: number;
  layers?: number;
  note: string;
}

interface ErrorBody {
  error?: { argument?: string; message?: string; fix?: string };
  argument?: string;
  message?: string;
  fix?: string;
}

async function refuse(response: Response): Promise<never> {
  let body: ErrorBody = {};
  try {
    body = (await response.json()) as ErrorBody;
  } catch {
    body = {};
  }
  const error = body.error ?? body;
  throw new ServerError(error.argument ?? "", error.message ?? `the server answered ${response.status}`, error.fix ?? "");
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(path, { credentials: "same-origin", ...(signal ? { signal } : {}) });
  if (!response.ok) return refuse(response);
  return (await response.json()) as T;
}

export const presets = (): Promise<Preset[]> => (SITE === undefined ? get("/api/presets") : Promise.resolve(SITE.presets));

export const attention = (run: string, frame: number, head: number, order: string, signal: AbortSignal): Promise<AttentionAnswer> =>
  get(`/api/runs/${run}/attention?frame=${frame}&head=${head}&order=${order}`, signal);

/** Attention that a token pays; `moved`: shares of its motion that others brought, of a trained model. */
export const attentionRow = (run: string, frame: number, token: number, head: number, signal: AbortSignal): Promise<{ values: number[]; moved?: boolean }> =>
  get(`/api/runs/${run}/row?frame=${frame}&token=${token}&head=${head}`, signal);

export function phase(kind: string, statistic: string, d: number, n: number, signal: AbortSignal): Promise<PhaseAnswer> {
  if (SITE !== undefined) {
    const found = SITE.phases[`${kind}-${statistic}-n${n}-d${d}`];
    if (found === undefined) return Promise.reject(new ServerError("phase", "this diagram is not recorded here", "pushforward explore computes it"));
    return Promise.resolve(found);
  }
  return get(`/api/phase?kind=${kind}&statistic=${statistic}&d=${d}&n=${n}`, signal);
}

export async function upload(file: File): Promise<UploadAnswer> {
  const body = new FormData();
  body.append("file", file, file.name);
  const response = await fetch("/api/upload", {
    method: "POST",
    body,
    credentials: "same-origin",
    headers: { "X-Pushforward": "1" },
  });
  if (!response.ok) return refuse(response);
  return (await response.json()) as UploadAnswer;
}

export const exportPath = (run: string, kind: "csv" | "png" | "mp4" | "zip", frame?: number): string =>
  `/api/runs/${run}/${kind}${frame === undefined ? "" : `?frame=${frame}`}`;

/** Little-endian float32 numbers written in base64. */
export function decodeFloats(text: string): Float32Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}
