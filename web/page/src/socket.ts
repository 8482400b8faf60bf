/** The socket: asks for runs, receives frames in order, acknowledges them, comes back when it falls. */
import { parseFrame, type Frame } from "./frames";
import type { Clamp } from "./notices";
import type { Accepted, Done } from "./run";
import type { Asked } from "./state";

export interface SocketEvents {
  accepted(id: number, accepted: Accepted, clamped: Clamp[]): void;
  frame(frame: Frame): void;
  progress(id: number, t: number, fraction: number): void;
  done(id: number, done: Done): void;
  error(id: number, argument: string, message: string, fix: string): void;
  link(up: boolean): void;
}

/** Where runs come from: a server, or what lies beside the page. */
export interface Source {
  connect(): void;
  run(state: Asked): number;
  stop(): void;
}

type Message = { type: string; id: number; [key: string]: unknown };

const ACK_EVERY = 8;
const LONGEST_WAIT = 8000;

export class RunSocket implements Source {
  private socket: WebSocket | null = null;
  private latest: { id: number; state: Asked } | null = null;
  private wait = 500;
  private nextId = 1;

  constructor(
    private readonly url: string,
    private readonly events: SocketEvents,
  ) {}

  connect(): void {
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait = 500;
      this.events.link(true);
      if (this.latest !== null) this.send({ type: "run", ...this.latest });
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => this.receive(event.data);
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.events.link(false);
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(LONGEST_WAIT, 2 * this.wait);
    };
    this.socket = socket;
  }

  /** Ask for a run and give up the one before; the answer carries the id returned here. */
  run(state: Asked): number {
    const id = this.nextId++;
    if (this.latest !== null) this.send({ type: "stop", id: this.latest.id });
    this.latest = { id, state };
    this.send({ type: "run", id, state });
    return id;
  }

  stop(): void {
    if (this.latest !== null) this.send({ type: "stop", id: this.latest.id });
  }

  private send(message: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private receive(data: ArrayBuffer | string): void {
    if (typeof data !== "string") {
      const frame = parseFrame(data);
      if ((frame.index + 1) % ACK_EVERY === 0 || frame.last) this.send({ type: "ack", id: frame.id, frame: frame.index });
      if (frame.id === this.latest?.id) this.events.frame(frame);
      return;
    }
    const message = JSON.parse(data) as Message;
    if (message.id !== this.latest?.id) return;
    this.dispatch(message);
  }

  private dispatch(message: Message): void {
    switch (message.type) {
      case "accepted":
        this.events.accepted(message.id, message as unknown as Accepted, (message["clamped"] ?? []) as Clamp[]);
        break;
      case "progress":
        this.events.progress(message.id, Number(message["t"]), Number(message["fraction"]));
        break;
      case "done":
        this.events.done(message.id, message as unknown as Done);
        break;
      case "error":
        this.events.error(message.id, String(message["argument"] ?? ""), String(message["message"] ?? "The run failed."), String(message["fix"] ?? ""));
        break;
    }
  }
}
