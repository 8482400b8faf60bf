/** What the explorer tells those who listen. */
import type { Clamp } from "./notices";
import type { Run } from "./run";

export interface Events {
  /** The state or the view changed. */
  state: () => void;
  /** The first frame of a new run is here. */
  run: (run: Run) => void;
  /** More frames came. */
  frames: () => void;
  done: (run: Run) => void;
  /** The head moved. */
  moment: () => void;
  /** The head came to rest on a frame. */
  rest: () => void;
  selected: () => void;
  notice: (lines: string[]) => void;
  clamped: (clamped: Clamp[]) => void;
  playing: () => void;
}

type Listeners = { [K in keyof Events]: Events[K][] };

export class Announcer {
  private readonly listeners: Listeners = {
    state: [], run: [], frames: [], done: [], moment: [], rest: [], selected: [], notice: [], clamped: [], playing: [],
  };

  on<K extends keyof Events>(event: K, listener: Events[K]): void {
    this.listeners[event].push(listener);
  }

  emit<K extends keyof Events>(event: K, ...values: Parameters<Events[K]>): void {
    for (const listener of this.listeners[event]) (listener as (...args: Parameters<Events[K]>) => void)(...values);
  }
}
