/** The play head: a real-valued frame, moved by time, keys and hands. */

export class Player {
  position = 0;
  playing = false;
  /** Frames per second. */
  speed = 20;

  /** The whole frame under the head. */
  get frame(): number {
    return Math.floor(this.position + 1e-9);
  }

  seek(k: number, last: number): void {
    this.position = Math.min(Math.max(0, last), Math.max(0, k));
  }

  /** Start; from the beginning when the head stands at the end. */
  start(last: number, complete: boolean): void {
    if (complete && this.position >= last) this.position = 0;
    this.playing = true;
  }

  pause(): void {
    this.playing = false;
    this.position = this.frame;
  }

  /** Move by `seconds`; waits at the last frame that has come, stops at the end of a complete run. */
  tick(seconds: number, last: number, complete: boolean): boolean {
    if (!this.playing) return false;
    const before = this.position;
    this.position = Math.min(last, this.position + this.speed * seconds);
    if (complete && this.position >= last) {
      this.position = last;
      this.playing = false;
    }
    return this.position !== before || !this.playing;
  }
}

/** Frames drawn per second, over the last second of drawing. */
export class Meter {
  private readonly times = new Float64Array(120);
  private count = 0;

  /** Milliseconds the page itself works per drawing, smoothed. */
  cost = 0;

  mark(now: number, cost = 0): void {
    this.cost += 0.1 * (cost - this.cost);
    const last = this.times[(this.count - 1 + this.times.length) % this.times.length] as number;
    if (this.count > 0 && now - last > 500) this.count = 0;
    this.times[this.count % this.times.length] = now;
    this.count += 1;
  }

  get rate(): number {
    const kept = Math.min(this.count, 60);
    if (kept < 2) return 0;
    const at = (k: number): number => this.times[(this.count - 1 - k) % this.times.length] as number;
    return ((kept - 1) * 1000) / (at(0) - at(kept - 1));
  }
}
