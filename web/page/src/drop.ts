/** Files: dropped anywhere or chosen; shown like any run, or refused with the reason. */
import { ServerError, upload } from "./api";
import { byId } from "./dom";
import type { Explorer } from "./explorer";
import { notice } from "./notices";

export const LARGEST_FILE = 64 * 1024 * 1024;
const SUFFIXES = [".npy", ".npz", ".csv", ".safetensors"];

/** Why a file cannot be what we read; null when it may be. */
export function refusal(name: string, size: number): string | null {
  if (!SUFFIXES.some((suffix) => name.toLowerCase().endsWith(suffix))) return `${name}: not one of ${SUFFIXES.join(", ")}.`;
  if (size === 0) return `${name}: the file is empty.`;
  if (size > LARGEST_FILE) return `${name}: ${Math.round(size / 2 ** 20)} MiB, at most ${LARGEST_FILE / 2 ** 20} MiB.`;
  return null;
}

async function take(explorer: Explorer, file: File): Promise<void> {
  const why = refusal(file.name, file.size);
  if (why !== null) return notice([why], "warning");
  try {
    const answer = await upload(file);
    notice([`${file.name}: ${answer.kind}. ${answer.note ?? ""}`.trim()]);
    if (answer.kind === "hidden") explorer.load({ model: "recorded", file: answer.file, view: { ...explorer.state.view, frame: null, selected: null } });
    else if (answer.kind === "weights") explorer.change({ V: `file:${answer.file}`, ...(answer.d ? { d: answer.d } : {}) }, 0);
    else explorer.change({ init: "file", file: answer.file, n: answer.n, d: answer.d }, 0);
  } catch (error) {
    const lines = error instanceof ServerError ? [`${file.name}: ${error.message}`, error.fix] : [`${file.name}: ${(error as Error).message}`];
    notice(lines.filter((line) => line !== ""), "warning");
  }
}

export function acceptFiles(explorer: Explorer): void {
  const veil = byId("drop");
  const input = byId<HTMLInputElement>("file");
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file !== undefined) void take(explorer, file);
    input.value = "";
  });
  const carriesFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) veil.hidden = true;
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    veil.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (file !== undefined) void take(explorer, file);
  });
}
