/** The clips of `card-video`, read back frame by frame in the sandbox, and given frames. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ConfigError, DataError, randomAt } from '@saccade/core';
import { ensurePython, type LocalSandbox, openSandbox } from '@saccade/sandbox';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeAvi } from '../avi.ts';
import { mnist } from '../mnist.ts';
import type { Task } from '../task.ts';
import { uniformFrames, uniformIndices } from '../uniform-frames.ts';
import { grayVideo } from '../videos.fixture.ts';
import {
  type CardVideoFacts,
  cardVideo,
  cardVideoWith,
  drawCardClip,
  drawFilmStrip,
} from './card-video.ts';

const environment = join(import.meta.dirname, '../../../../.cache/sandbox-venv');
let sandbox: LocalSandbox;
beforeAll(async () => {
  const { python } = await ensurePython(environment);
  sandbox = await openSandbox({ python });
}, 300_000);
afterAll(async () => {
  const { open } = sandbox.stats();
  await sandbox.dispose();
  expect(open).toBe(0);
});

const factsOf = ({ metadata }: Task) => metadata as unknown as CardVideoFacts;
const pixels = (png: Uint8Array) => sharp(png).removeAlpha().raw().toBuffer();
const digest = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest('hex').slice(0, 12);

/** The output of code about a task's video, run in a session. */
async function print(task: Task, code: string): Promise<string> {
  const [video] = task.videos ?? [];
  if (video === undefined) throw new Error('no video');
  const session = await sandbox.open({ videos: [{ name: 'film', encoded: video.encoded }] });
  const { stdout, error } = await session.execute(code);
  await session.dispose();
  return error === undefined ? stdout.trim() : `${error.type}: ${error.message}`;
}

describe('card-video', () => {
  it('is a video whose every frame comes back as it was drawn', async () => {
    const task = await cardVideo.task('train', 3);
    const clip = drawCardClip('train', 3);
    const drawn = await Promise.all(
      Array.from({ length: 96 }, (_, i) => clip.frame(i).then(pixels)),
    );
    const read = await print(
      task,
      `import hashlib, json
print(json.dumps([hashlib.sha1(frame.tobytes()).hexdigest()[:12] for frame in film]))`,
    );
    expect(JSON.parse(read)).toEqual(drawn.map(digest));
    const [video] = task.videos ?? [];
    expect(await print(task, 'print(len(film), film.get_avg_fps(), film[0].shape)')).toBe(
      `${video?.frameCount} ${video?.framesPerSecond}.0 (${video?.height}, ${video?.width}, 3)`,
    );
  });

  it('has strips that are drawn as Pillow shrinks them', async () => {
    for (const index of [1, 2]) {
      const clip = drawCardClip('train', index);
      const frames = Array.from({ length: 16 }, (_, i) => clip.image(6 * i));
      const code = `import hashlib
strip = Image.fromarray(np.hstack(film[::6])).reduce(4).resize((448, 28), 0)
print(hashlib.sha1(strip.tobytes()).hexdigest()[:12])`;
      const strip = drawFilmStrip(frames);
      expect(await print(await cardVideo.task('train', index), code)).toBe(digest(strip.pixels));
    }
  });

  it('shows the card for 12 frames, its digit in three in the middle, and nothing else', async () => {
    for (let index = 0; index < 12; index++) {
      const { facts, frame } = drawCardClip('heldOut', index);
      const [card, digit] = [facts.card, facts.digit];
      expect([card[1] - card[0], digit[1] - digit[0], digit[0] - card[0]]).toEqual([12, 3, 5]);
      const [left, top, right, bottom] = facts.place;
      const area = { left, top, width: right - left, height: bottom - top };
      for (const i of [
        0,
        card[0] - 1,
        card[0],
        digit[0] - 1,
        digit[0],
        digit[1] - 1,
        digit[1],
        95,
      ]) {
        const look = await sharp(await frame(i))
          .extract(area)
          .raw()
          .toBuffer();
        const blue = look.filter((_, at) => at % 3 === 2);
        const red = look.filter((_, at) => at % 3 === 0);
        const isCard = card[0] <= i && i < card[1];
        const isDigit = digit[0] <= i && i < digit[1];
        // Cards are light blue, tables have next to none; ink goes 100 up and down in red.
        expect(Math.min(...blue) > 150, `card at ${i}`).toBe(isCard);
        const spread = Math.max(...red) - Math.min(...red);
        if (isCard) expect(spread > 100, `digit at ${i}`).toBe(isDigit);
      }
    }
  });

  it('answers with the digit that was drawn, all ten as often as they come', async () => {
    const answers = new Set<string>();
    for (let index = 0; index < 60; index++) {
      const { answer } = await cardVideo.task('train', index);
      expect(mnist('train').count).toBeGreaterThan(0);
      expect(answer).toMatch(/^\d$/);
      answers.add(answer);
    }
    expect(answers.size).toBe(10);
  });

  it('never shows a held-out time and place in training', async () => {
    const where = async (split: 'train' | 'heldOut', count: number) => {
      const tasks = await Promise.all(
        Array.from({ length: count }, (_, i) => cardVideo.task(split, i)),
      );
      return tasks.map((task) => `${factsOf(task).card[0]} ${factsOf(task).place}`);
    };
    const trained = new Set(await where('train', 150));
    for (const place of await where('heldOut', 50)) expect(trained).not.toContain(place);
  });

  it('refuses clips that cannot be', () => {
    expect(() => cardVideoWith({ frameCount: 13 })).toThrow(ConfigError);
    expect(() => cardVideoWith({ digitFrames: 13 })).toThrow(
      /expected 1 to cardFrames, 12, got 13/,
    );
  });
});

describe('uniform frames', () => {
  it('are the middles of equal parts', () => {
    expect(uniformIndices(96, 4)).toEqual([12, 36, 60, 84]);
    expect(uniformIndices(96, 96)).toEqual(Array.from({ length: 96 }, (_, i) => i));
    expect(uniformIndices(5, 8)).toEqual([0, 1, 2, 3, 4]);
    expect(uniformIndices(7, 1)).toEqual([3]);
  });

  it('are in the context at full resolution, in the order of time', async () => {
    const given = uniformFrames(cardVideo, { sandbox, count: 6 });
    const task = await given.task('train', 5);
    const clip = drawCardClip('train', 5);
    expect(task.images.map(({ name }) => name)).toEqual(
      Array.from({ length: 6 }, (_, i) => `image_clue_${i}`),
    );
    for (const [k, i] of uniformIndices(96, 6).entries()) {
      const [seen, drawn] = [task.images[k]?.png ?? new Uint8Array(), await clip.frame(i)];
      expect((await pixels(seen)).equals(await pixels(drawn))).toBe(true);
    }
    expect(task.videos).toHaveLength(1);
    expect(given.size('train')).toBe(cardVideo.size('train'));
  });

  it('fail in words where a video is not what its task says', async () => {
    const short = grayVideo({ width: 32, height: 24, frameCount: 3 });
    const wrong = {
      ...cardVideo,
      task: async () => ({
        ...(await cardVideo.task('train', 0)),
        videos: [{ ...short, frameCount: 9 }],
      }),
    };
    const attempt = uniformFrames(wrong, { sandbox, count: 4 }).task('train', 0);
    await expect(attempt).rejects.toThrow(DataError);
    await expect(attempt).rejects.toThrow(/frame 3 is out of range: the video has 3 frames/);
    expect(() => uniformFrames(cardVideo, { sandbox, count: 0 })).toThrow(ConfigError);
  });
});

describe('encodeAvi', () => {
  it('keeps the rate, odd sizes and the number of frames', async () => {
    const video = grayVideo({ width: 33, height: 17, frameCount: 7 });
    const task = { ...(await cardVideo.task('train', 0)), videos: [video] };
    const said = await print(
      task,
      'print(len(film), film.get_avg_fps(), film[6].shape, [int(frame[0, 0, 0]) for frame in film], film.get_key_indices())',
    );
    const grays = Array.from({ length: 7 }, (_, i) => 20 * i).join(', ');
    expect(said).toBe(`7 2.0 (17, 33, 3) [${grays}] [0, 1, 2, 3, 4, 5, 6]`);
    const again = { framesPerSecond: 23.976, width: 8, height: 8 };
    const frame = Uint8Array.from(randomAt(1, 'png').shuffle([1, 2, 3]));
    expect(encodeAvi([frame, frame], again)).toEqual(encodeAvi([frame, frame], again));
    expect(() => encodeAvi([], again)).toThrow(/at least one frame/);
  });
});
