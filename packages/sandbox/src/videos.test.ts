/**
 * Videos of sessions. What a frame is comes from PyAV decoding the file from its start to its end,
 * in a process of its own; the reader has to give the same pixels in any order.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clip, clipFrames, makeClips } from './clips.fixture.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import { openSandbox, type SandboxOptions } from './open-sandbox.ts';
import { ensurePython } from './python-environment.ts';
import type { InputVideo } from './session.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
let python: string;
let clips: ReadonlyMap<string, Clip>;
let sandbox: LocalSandbox;
const opened: LocalSandbox[] = [];

async function open(options: SandboxOptions = {}): Promise<LocalSandbox> {
  const own = await openSandbox({ python, ...options });
  opened.push(own);
  return own;
}

beforeAll(async () => {
  ({ python } = await ensurePython(environment));
  [clips, sandbox] = await Promise.all([makeClips(python), open()]);
}, 300_000);
afterAll(async () => {
  const left = opened.map((own) => own.stats().open);
  await Promise.all(opened.map((own) => own.dispose()));
  expect(left).toEqual(left.map(() => 0));
});

function clip(name: string): Clip {
  const found = clips.get(name);
  if (found === undefined) throw new Error(`no clip ${name}`);
  return found;
}

const film = (name: string): InputVideo => ({ name: 'film', encoded: clip(name).encoded });

/** The output of the codes, run in one session; those that fail give their error. */
async function say(
  videos: readonly InputVideo[],
  codes: readonly string[],
  where = sandbox,
): Promise<readonly string[]> {
  const session = await where.open({ videos });
  try {
    const said: string[] = [];
    for (const code of codes) {
      const { kind, stdout, error } = await session.execute(code);
      said.push(kind === 'ok' ? stdout.trim() : `${error?.type ?? kind}: ${error?.message}`);
    }
    return said;
  } finally {
    await session.dispose();
  }
}

const digests = `import hashlib, json
def digests(indices):
    found = [hashlib.sha1(film[i].asnumpy().tobytes()).hexdigest()[:12] for i in indices]
    print(json.dumps(found))`;

describe('a video of a session', () => {
  const names = [
    'b-frames.mp4',
    'open-gop.mkv',
    'without-times.h264',
    'hidden-frames.webm',
    'one-key.gif',
    'all-keys.avi',
  ];
  it.each(names)('%s gives the frames of plain decoding, in any order', async (name) => {
    const [, inOrder, last, mixed] = await say(
      [film(name)],
      [
        digests,
        'digests(range(len(film)))',
        'digests([-1, len(film) - 1, 0])',
        `import random
order = random.Random(3).sample(range(len(film)), len(film))
film = type(film)(film.path)  # nothing of it is kept
digests(order)
print(json.dumps(order))`,
      ],
    );
    const expected = clip(name).digests;
    expect(expected).toHaveLength(clipFrames);
    expect(new Set(expected).size).toBe(clipFrames);
    expect(JSON.parse(inOrder ?? '')).toEqual(expected);
    expect(JSON.parse(last ?? '')).toEqual([expected[59], expected[59], expected[0]]);
    const [found, order] = (mixed ?? '').split('\n').map((line) => JSON.parse(line));
    expect(found).toEqual(order.map((i: number) => expected[i]));
  });

  it('has the words of decord, for several frames, times and key frames', async () => {
    const said = await say(
      [film('b-frames.mp4')],
      [
        'print(len(film), film.get_avg_fps(), film[3].shape)',
        'print(film.get_batch([5, 1, 5]).asnumpy().shape, film[4:10:2].shape)',
        'batch = film.get_batch([5, 1, 5])\nprint([np.array_equal(batch[k], film[i]) for k, i in enumerate([5, 1, 5])])',
        'print(film.get_frame_timestamp(7).round(3).tolist(), film.get_frame_timestamp([0, 59]).round(3).tolist())',
        'print(film.get_key_indices()[0], sum(1 for _ in film))',
        'print(film[np.int64(2)].asnumpy().flags.owndata)\nfilm[2][:] = 0\nprint(film[2].max() > 0)',
      ],
    );
    expect(said).toEqual([
      '60 10.0 (48, 64, 3)',
      '(3, 48, 64, 3) (3, 48, 64, 3)',
      '[True, True, True]',
      '[0.7, 0.8] [[0.0, 0.1], [5.9, 6.0]]',
      '0 60',
      'True\nTrue',
    ]);
  });

  it('can be shown by Pillow and matplotlib', async () => {
    const session = await sandbox.open({ videos: [film('all-keys.avi')] });
    const { images } = await session.execute(
      'Image.fromarray(film[4]).show()\nplt.imshow(film[5])\nplt.show()',
    );
    await session.dispose();
    expect(images.map(({ width, height, source }) => [width, height, source])).toEqual([
      [64, 48, 'image'],
      [640, 480, 'figure'],
    ]);
  });

  it('says in words what is wrong with an index', async () => {
    const said = await say(
      [film('all-keys.avi')],
      ['film[60]', 'film[-61]', 'film[1.5]', 'film.get_batch([])'],
    );
    expect(said).toEqual([
      'IndexError: frame 60 is out of range: the video has 60 frames, 0 to 59',
      'IndexError: frame -61 is out of range: the video has 60 frames, 0 to 59',
      "TypeError: a frame's index is a whole number, got float",
      'ValueError: get_batch needs at least one index',
    ]);
  });

  it('is the reader that decord gives under the name of the video', async () => {
    const said = await say(
      [film('all-keys.avi')],
      [
        `from decord import VideoReader, cpu, bridge
bridge.set_bridge('native')
again = VideoReader('film', ctx=cpu(0), num_threads=1)
print(type(film) is VideoReader, np.array_equal(again[7], film[7]))
print(VideoReader('film', width=32, height=24)[0].shape)`,
        "VideoReader('none.mp4')",
        "bridge.set_bridge('torch')",
      ],
    );
    expect(said).toEqual([
      'True True\n(24, 32, 3)',
      'VideoError: there is no video at none.mp4',
      'VideoError: frames cannot become torch: use "native" and frame.asnumpy().',
    ]);
  });

  it('gives its bytes to OpenCV and PyAV as well', async () => {
    const code = `import av, cv2
with open('film.avi', 'wb') as file:
    file.write(film.data)
found, image = cv2.VideoCapture('film.avi').read()
with av.open('film.avi') as container:
    count = sum(1 for _ in container.decode(video=0))
print(found, image.shape, count)`;
    expect(await say([film('all-keys.avi')], [code])).toEqual(['True (48, 64, 3) 60']);
  });

  it('cannot be changed by a session for the others that have it', async () => {
    const said = await say(
      [film('all-keys.avi')],
      [
        'film.data[0] = 0',
        'import os\nprint(os.listdir("."), len(film.data))',
        'first, second = film, type(film)("film")\nprint(np.array_equal(first[9], second[9]), np.array_equal(first[3], second[3]))',
      ],
    );
    expect(said).toEqual([
      "TypeError: mmap can't modify a readonly memory map.",
      `[] ${clip('all-keys.avi').encoded.length}`,
      'True True',
    ]);
  });

  it('is decoded with no thread to spare and little memory', async () => {
    const tight = await open({ limits: { processes: 1, memoryBytes: 480 * 2 ** 20 } });
    for (const name of ['b-frames.mp4', 'hidden-frames.webm']) {
      const [, found] = await say([film(name)], [digests, 'digests([59, 1])'], tight);
      const expected = clip(name).digests;
      expect(JSON.parse(found ?? '')).toEqual([expected[59], expected[1]]);
    }
  });

  it('works without isolation, too', async () => {
    const bare = await open({ isolation: 'process', unsafe: true });
    const [, found] = await say([film('b-frames.mp4')], [digests, 'digests([30])'], bare);
    expect(JSON.parse(found ?? '')).toEqual([clip('b-frames.mp4').digests[30]]);
  });
});

describe('a session', () => {
  it.each<[string, () => Uint8Array]>([
    ['text', () => Buffer.from('not a video')],
    ['nothing', () => new Uint8Array()],
    ['the beginning of a file', () => clip('b-frames.mp4').encoded.slice(0, 300)],
  ])('refuses %s as a video, with a typed error', async (_, encoded) => {
    const attempt = sandbox.open({ videos: [{ name: 'film', encoded: encoded() }] });
    await expect(attempt).rejects.toMatchObject({ name: 'DataError' });
    await expect(attempt).rejects.toThrow(/The video film cannot be opened: .*Give the whole file/);
  });

  it('reads what there is of a file whose end is broken', async () => {
    const { encoded, digests: whole } = clip('all-keys.avi');
    const videos = [{ name: 'film', encoded: encoded.slice(0, encoded.length / 2) }];
    const [, few] = await say(videos, [digests, 'digests(range(10))\n']);
    expect(JSON.parse(few ?? '')).toEqual(whole.slice(0, 10));
  });

  it.each([
    ['videoBytes', 1000, /has \d+ bytes, at most 1000 are allowed/],
    ['videoFrames', 59, /it has more than 59 frames/],
    ['imagePixels', 3000, /its frames of 64x48 are more than 3000 pixels/],
  ] as const)('refuses a video beyond the limit %s', async (limit, value, message) => {
    const limited = await open({ limits: { [limit]: value } });
    for (const name of ['all-keys.avi', 'without-times.h264']) {
      const attempt = limited.open({ videos: [film(name)] });
      await expect(attempt).rejects.toMatchObject({ name: 'DataError' });
      await expect(attempt).rejects.toThrow(message);
    }
  });

  it('refuses a limit that one message cannot hold, and names that are taken', async () => {
    await expect(open({ limits: { videoBytes: 2 ** 26 } })).rejects.toThrow(
      /limits\.videoBytes must be at most/,
    );
    const twice = [film('all-keys.avi'), film('one-key.gif')];
    await expect(sandbox.open({ videos: twice })).rejects.toThrow(/are called film/);
    await expect(
      sandbox.open({ videos: [{ ...film('one-key.gif'), name: '../film' }] }),
    ).rejects.toThrow(/cannot be a variable/);
  });
});
