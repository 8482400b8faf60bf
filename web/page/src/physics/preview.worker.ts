/** The preview's own thread: a plan comes in, frames go out. */
import type { Field } from "./field";
import { normals } from "./normals";
import { FrameRecorder } from "./recorder";
import { flow } from "./solver";

export interface Order {
  id: number;
  field: Field;
  start: Float64Array;
  times: Float64Array;
  noise: number;
  seed: number;
  radius: number;
  weighted: boolean;
}

self.onmessage = ({ data }: MessageEvent<Order>): void => {
  const recorder = new FrameRecorder(data.id, data.field, data.radius, data.weighted);
  let k = 0;
  for (const { t, x } of flow({ ...data, normal: normals(data.seed) })) {
    const frame = recorder.frame(t, x, ++k === data.times.length);
    self.postMessage(frame, { transfer: [frame.points.buffer, frame.labels.buffer] as ArrayBuffer[] });
  }
};
