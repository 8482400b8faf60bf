/** Three small words for making elements. */

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** The element with this id; a missing one is a mistake in index.html. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`index.html has no #${id}`);
  return found as T;
}

/** Set text only when it changes, so that screen readers are not told twice. */
export function say(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Words about what moves change ten times a second: each change is a repainting, which without a graphics card costs as much as a picture. */
export function seldom(): (moving: boolean) => boolean {
  let told = 0;
  return (moving) => {
    const now = performance.now();
    if (moving && now - told < 100) return false;
    told = now;
    return true;
  };
}

/** Run after the last of a burst of calls. */
export function debounce(milliseconds: number, work: () => void): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds) as unknown as number;
  };
}
