/** A video as its frames. */
import { ShapeError } from '@saccade/core';
import type { VideoTimes } from '../../batch.ts';
import type { DecodedImage } from '../decode-image.ts';

/** Frames of a video, already sampled, and the moments that they show. */
export interface VideoFrames {
  /** RGB images of one size. */
  readonly frames: readonly DecodedImage[];
  /** Time of each frame, seconds from the start. */
  readonly timestamps: readonly number[];
  /** Length of the whole video, seconds; unset where only the frames are known. */
  readonly durationSeconds?: number;
}

/** Frames per second where nothing tells them, as in transformers. */
const DEFAULT_RATE = 24;

/** @throws ShapeError if there is no frame, a time is missing, or the sizes differ */
export function checkFrames({ frames, timestamps, durationSeconds }: VideoFrames): DecodedImage {
  const [first] = frames;
  if (first === undefined || timestamps.length !== frames.length) {
    throw new ShapeError(
      `A video needs at least one frame and a time for each, got ${frames.length} frames and ` +
        `${timestamps.length} times.`,
    );
  }
  const other = frames.find(
    ({ width, height }) => width !== first.width || height !== first.height,
  );
  if (other !== undefined) {
    throw new ShapeError(
      `The frames of a video must have one size; got ${first.width}×${first.height} and ` +
        `${other.width}×${other.height}.`,
    );
  }
  const wrong = [...timestamps, durationSeconds ?? 0].find(
    (time) => !(time >= 0 && time < Infinity),
  );
  if (wrong !== undefined) {
    throw new ShapeError(`The times of a video must be numbers from 0, got ${wrong}.`);
  }
  return first;
}

/** The times that are kept of a video. */
export function timesOf({ timestamps, durationSeconds }: VideoFrames): VideoTimes {
  return { timestamps, ...(durationSeconds !== undefined && { durationSeconds }) };
}

/** Frames per second: by the length of the video, or else by the distance of the frames. */
export function frameRate({ frames, timestamps, durationSeconds }: VideoFrames): number {
  if (durationSeconds !== undefined && durationSeconds > 0) return frames.length / durationSeconds;
  const span = (timestamps.at(-1) ?? 0) - (timestamps[0] ?? 0);
  return span > 0 ? (frames.length - 1) / span : DEFAULT_RATE;
}
