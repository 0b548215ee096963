/** Video files for tests, made by FFmpeg, and what their frames are when decoded in plain order. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runForText } from './python-interpreter.ts';

export interface Clip {
  readonly encoded: Uint8Array;
  /** The first twelve hexadecimal digits of the SHA-1 of each frame's RGB bytes. */
  readonly digests: readonly string[];
}

/** File name, codec, pixel format, codec options. */
const kinds = [
  ['b-frames.mp4', 'libx264', 'yuv420p', { bf: '3' }],
  ['open-gop.mkv', 'libx264', 'yuv420p', { bf: '3', 'x264-params': 'open-gop=1:scenecut=0' }],
  // Bare packets that say no times: only decoding tells which frames there are.
  ['without-times.h264', 'libx264', 'yuv420p', { bf: '3' }],
  ['hidden-frames.webm', 'libvpx', 'yuv420p', { 'auto-alt-ref': '1', 'lag-in-frames': '16' }],
  ['one-key.gif', 'gif', 'rgb8', {}],
  ['all-keys.avi', 'mjpeg', 'yuvj420p', {}],
] as const;

const script = `
import av, hashlib, json, sys
import numpy as np
av.logging.set_level(av.logging.PANIC)
folder, kinds, count = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
digests = {}
for name, codec, pixels, options in kinds:
    path = folder + "/" + name
    with av.open(path, "w") as container:
        stream = container.add_stream(codec, rate=10, options=options)
        stream.width, stream.height, stream.pix_fmt = 64, 48, pixels
        stream.codec_context.gop_size = 12
        for i in range(count):
            image = np.zeros((48, 64, 3), np.uint8)
            image[..., 0] = 3 * i
            image[:, i % 64] = 255
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image)))
        container.mux(stream.encode())
    with av.open(path) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    digests[name] = [hashlib.sha1(frame.tobytes()).hexdigest()[:12] for frame in frames]
print(json.dumps(digests))
`;

/** Frames of each clip. */
export const clipFrames = 60;

/** One clip of each kind, by file name. */
export async function makeClips(python: string): Promise<ReadonlyMap<string, Clip>> {
  const folder = mkdtempSync(join(tmpdir(), 'saccade-clips-'));
  try {
    const given = [folder, JSON.stringify(kinds), String(clipFrames)];
    const said = await runForText(python, ['-c', script, ...given]);
    const digests = JSON.parse(said) as Record<string, string[]>;
    return new Map(
      kinds.map(([name]) => {
        const encoded = readFileSync(join(folder, name));
        return [name, { encoded, digests: digests[name] ?? [] }];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
