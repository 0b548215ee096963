/** A video to tell frames by: frame i is a gray of 20·i. */
import { encode } from 'fast-png';
import { encodeAvi } from './avi.ts';
import type { TaskVideo } from './task.ts';

export function grayVideo(size: Pick<TaskVideo, 'width' | 'height' | 'frameCount'>): TaskVideo {
  const { width, height, frameCount } = size;
  const facts = { ...size, framesPerSecond: 2 };
  const frames = Array.from({ length: frameCount }, (_, i) => {
    const data = new Uint8Array(width * height * 3).fill(20 * i);
    return encode({ data, width, height, channels: 3 });
  });
  return { name: 'video_clue_0', encoded: encodeAvi(frames, facts), ...facts };
}
