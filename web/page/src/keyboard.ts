/** Every key of the page, in one table: what help shows is what works. */

export interface Shortcut {
  keys: string;
  label: string;
  does: string;
  run: (event: KeyboardEvent) => void;
}

const TYPING = new Set(["text", "number", "search", "email", "url"]);

/** True when the person is typing, or the control in focus needs this key itself. */
export function keptByFocus(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog[open]") !== null) return event.key !== "?";
  if (event.key === "Escape") return false;
  if (target instanceof HTMLTextAreaElement || target.isContentEditable) return true;
  if (target instanceof HTMLInputElement && TYPING.has(target.type)) return true;
  const arrows = event.key.startsWith("Arrow") && !event.altKey;
  if (target instanceof HTMLSelectElement) return arrows || event.key === " " || event.key === "Enter" || event.key.length === 1;
  if (target instanceof HTMLInputElement) {
    if (target.type === "range") return arrows || ["Home", "End", "PageUp", "PageDown"].includes(event.key);
    return arrows || event.key === " " || event.key === "Enter";
  }
  const presses = event.key === " " || event.key === "Enter";
  if (presses && target.closest("button, a[href], summary") !== null) return true;
  return arrows && target.getAttribute("role") === "tab";
}

/** "shift+alt+ArrowLeft" from an event; letters are lower case. */
export function chord(event: Pick<KeyboardEvent, "key" | "shiftKey" | "altKey" | "ctrlKey" | "metaKey">): string {
  const named = event.key.length > 1;
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("ctrl");
  if (event.altKey) parts.push("alt");
  if (event.shiftKey && named) parts.push("shift");
  parts.push(named ? event.key : event.key.toLowerCase());
  return parts.join("+");
}

export function listen(shortcuts: readonly Shortcut[]): void {
  const table = new Map<string, Shortcut>();
  for (const shortcut of shortcuts) for (const key of shortcut.keys.split(" ")) table.set(key === "Space" ? " " : key, shortcut);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || keptByFocus(event)) return;
    const shortcut = table.get(chord(event));
    if (shortcut === undefined) return;
    event.preventDefault();
    shortcut.run(event);
  });
}
