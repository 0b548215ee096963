/** Size, rate and length of an encoded video, from its container. */
import { DataError, messageOf } from '@saccade/core';

/** Facts of a video that a task tells its protocol. */
export interface VideoFacts {
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
  readonly frameCount: number;
}

/**
 * Reads the facts of an MP4, QuickTime, WebM, Matroska or AVI file; no frame is decoded.
 *
 * @throws DataError if it is no such file, or has no picture
 */
export async function videoFacts(bytes: Uint8Array): Promise<VideoFacts> {
  const facts = aviFacts(bytes) ?? (await containerFacts(bytes));
  const values = [facts.width, facts.height, facts.framesPerSecond, facts.frameCount];
  if (values.every((value) => Number.isFinite(value) && value > 0)) return facts;
  throw new DataError('the video has no size, rate or frames. Write it again.');
}

async function containerFacts(bytes: Uint8Array): Promise<VideoFacts> {
  // Imported only here: tasks of images need none of it.
  const { ALL_FORMATS, BufferSource, Input } = await import('mediabunny');
  try {
    const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
    const track = await input.getPrimaryVideoTrack();
    if (track === null) throw new DataError('the file has no video');
    const { packetCount, averagePacketRate } = await track.computePacketStats();
    return {
      width: await track.getDisplayWidth(),
      height: await track.getDisplayHeight(),
      framesPerSecond: averagePacketRate,
      frameCount: packetCount,
    };
  } catch (error) {
    if (error instanceof DataError) throw error;
    const remedy = 'Give MP4, WebM, Matroska, QuickTime or AVI.';
    throw new DataError(`the video cannot be read: ${messageOf(error)}. ${remedy}`, {
      cause: error,
    });
  }
}

/** Places in the main header of an AVI file, after `RIFF`, its size and `AVI LIST size hdrl`. */
const [AVIH, MICROSECONDS, FRAMES, WIDTH, HEIGHT, END] = [24, 32, 48, 64, 68, 72];

/** The facts of an AVI file; undefined of any other. */
function aviFacts(bytes: Uint8Array): VideoFacts | undefined {
  if (bytes.length < END) return undefined;
  const text = (at: number, length: number): string =>
    String.fromCharCode(...bytes.subarray(at, at + length));
  if (text(0, 4) !== 'RIFF' || text(8, 4) !== 'AVI ' || text(AVIH, 4) !== 'avih') return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = (place: number): number => view.getUint32(place, true);
  return {
    width: at(WIDTH),
    height: at(HEIGHT),
    framesPerSecond: 1e6 / at(MICROSECONDS),
    frameCount: at(FRAMES),
  };
}
