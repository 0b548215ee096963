/**
 * `card-video`: which digit does the card show, in the quarter of a second in which it is face up?
 *
 * A clip of twelve seconds. At some time a card is put onto a table, turned over, turned back and taken
 * away. It lies there for twelve frames, and three of them show its digit. An overview in time, one small
 * image for every sixth frame, shows when there is a card, but no digit: the ink is a hatching that
 * vanishes when frames are shrunk. So the overview tells which frames are worth a look in full. What
 * time it is, the light tells: green rises from quarter to quarter of the clip, red within each.
 */
import { ConfigError, type Random, randomAt } from '@saccade/core';
import { count, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { encodeAvi } from '../avi.ts';
import { defineTaskSet } from '../define-task-set.ts';
import { DIGIT_SIZE, mnist } from '../mnist.ts';
import type { Split, Task, TaskSet } from '../task.ts';
import { uniformFrames } from '../uniform-frames.ts';
import { type Box, drawLook, drawTable, MAX_TEXTURE, type PixelImage } from './draw-needle.ts';
import { encodeImage, taskId } from './needle.ts';

const settings = z.strictObject({
  seed: count({
    min: 0,
    max: 0xffffffff,
    default: 0,
    unit: '32-bit integer',
    about: 'Seed of times, places, digits and textures.',
  }),
  frameCount: count({
    min: 3,
    max: 100_000,
    default: 96,
    unit: 'frames',
    about: 'Length of a clip.',
  }),
  cardFrames: count({
    min: 1,
    max: 100_000,
    default: 12,
    unit: 'frames',
    about: 'Frames in which the card lies on the table.',
  }),
  digitFrames: count({
    min: 1,
    max: 100_000,
    default: 3,
    unit: 'frames',
    about: 'Those of them that show its digit, in the middle.',
  }),
  texture: count({
    min: 0,
    max: MAX_TEXTURE,
    default: 12,
    unit: 'gray levels',
    about: 'Amplitude of the texture of table and card.',
  }),
  initialFrames: count({
    min: 0,
    max: 1000,
    default: 0,
    unit: 'frames',
    about: 'Uniformly spaced frames in the context from the start; 0: the model fetches frames.',
  }),
});

/** The settings that determine a clip. */
export type CardVideoOptions = Omit<SettingsOf<typeof settings>, 'initialFrames'>;

/** Facts of a task, in its metadata. */
export interface CardVideoFacts {
  /** First frame with the card, and the first one after it. */
  readonly card: readonly [number, number];
  /** First frame with the digit, and the first one after it. */
  readonly digit: readonly [number, number];
  /** Where the card lies; pixels. */
  readonly place: Box;
}

/** Side of a frame: four cards. */
export const CARD_VIDEO_SIZE = 56;
const FRAMES_PER_SECOND = 8;
const TASKS = 1_000_000;
/** One in this many of the times and places is held out. */
const HELD_OUT_ONE_IN = 8;

/**
 * The question of every task of `card-video`. A tokenizer of a small policy is trained on it, so
 * another wording is another policy.
 */
export const cardVideoQuestion = 'Which digit is on the card?';

/**
 * The default clip: 96 frames (12 s at 8 frames per second), 12 with the card, 3 of them with its
 * digit.
 */
export const defaultCardVideo: CardVideoOptions = settings.parse({});

export const cardVideo = defineTaskSet({
  name: 'card-video',
  description:
    'A clip in which a card shows its digit for three frames of 96: find when, and look there.',
  settings,
  create(options) {
    checkOptions(options);
    const { initialFrames } = options;
    const plain = {
      size: () => TASKS,
      task: (split: Split, index: number) => makeTask(options, split, index),
    };
    if (initialFrames === 0) return plain;
    const named = { name: 'card-video', description: 'Clips of a card.', ...plain };
    return {
      ...plain,
      open: async ({ sandbox }) => uniformFrames(named, { sandbox, count: initialFrames }),
    };
  },
});

/** The task set with options that differ from the defaults. */
export function cardVideoWith(options: Partial<SettingsOf<typeof settings>> = {}): TaskSet {
  return cardVideo.with(options);
}

function checkOptions({ frameCount, cardFrames, digitFrames }: CardVideoOptions): void {
  if (digitFrames > cardFrames) {
    throw new ConfigError(
      'digitFrames',
      `taskSet.digitFrames: expected 1 to cardFrames, ${cardFrames}, got ${digitFrames}.`,
    );
  }
  if (frameCount < cardFrames + 2) {
    throw new ConfigError(
      'frameCount',
      `taskSet.frameCount: expected at least cardFrames + 2, ${cardFrames + 2}, got ${frameCount}.`,
    );
  }
}

/** A clip before it is encoded. */
export interface CardClip {
  readonly facts: CardVideoFacts;
  readonly answer: string;
  /** Frame i; frames that are alike are the same image. */
  image(index: number): PixelImage;
  /** Its PNG bytes; frames that are alike are the same array. */
  frame(index: number): Promise<Uint8Array>;
}

/** Draws the clip of a task. */
export function drawCardClip(
  split: Split,
  index: number,
  options: CardVideoOptions = defaultCardVideo,
): CardClip {
  const random = randomAt(options.seed, 'card-video', split, index);
  const facts = layOut(options, split, index);
  const digits = mnist(split);
  const digit = random.integer(digits.count);
  const table = drawTable(CARD_VIDEO_SIZE, options.texture, random, false);
  const blank = new Uint8Array(DIGIT_SIZE * DIGIT_SIZE);
  const back = drawLook(blank, options.texture, random);
  const face = drawLook(digits.pixels(digit), options.texture, random);
  const drawn = new Map<string, PixelImage>();
  const encoded = new Map<PixelImage, Promise<Uint8Array>>();
  const image = (i: number): PixelImage => {
    const hour = Math.floor((i * HOURS) / options.frameCount);
    const side = isWithin(i, facts.digit) ? face : isWithin(i, facts.card) ? back : undefined;
    const key = `${hour}/${side === undefined ? 'none' : side === face ? 'face' : 'back'}`;
    let frame = drawn.get(key);
    if (frame === undefined) {
      const lit = light(table, hour);
      frame = side === undefined ? lit : lay(lit, side, facts.place);
      drawn.set(key, frame);
    }
    return frame;
  };
  return {
    facts,
    answer: String(digits.label(digit)),
    image,
    frame(i) {
      const frame = image(i);
      const png = encoded.get(frame) ?? encodeImage(frame);
      encoded.set(frame, png);
      return png;
    },
  };
}

/** A card's face on a table, somewhere and at some time: for captions. */
export function drawCardFrame(ink: Uint8Array, random: Random): PixelImage {
  const { texture } = defaultCardVideo;
  const table = drawTable(CARD_VIDEO_SIZE, texture, random, false);
  const lit = light(table, random.integer(HOURS));
  return lay(lit, drawLook(ink, texture, random), random.pick(PLACES));
}

/**
 * Frames side by side, shrunk to a quarter of their side and each pixel doubled: a token for each.
 *
 * The same pixels as Pillow's `reduce(4)` and a nearest-neighbor `resize` give.
 */
export function drawFilmStrip(frames: readonly PixelImage[]): PixelImage {
  const side = CARD_VIDEO_SIZE / SHRINK;
  const [width, height] = [2 * side * frames.length, 2 * side];
  const pixels = new Uint8Array(width * height * 3);
  frames.forEach((frame, f) => {
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        for (let color = 0; color < 3; color++) {
          const mean = meanOf(frame, SHRINK * x, SHRINK * y, color);
          for (const [dx, dy] of [
            [0, 0],
            [1, 0],
            [0, 1],
            [1, 1],
          ] as const) {
            pixels[((2 * y + dy) * width + 2 * (f * side + x) + dx) * 3 + color] = mean;
          }
        }
      }
    }
  });
  return { width, height, pixels };
}

const SHRINK = 4;

function meanOf({ pixels, width }: PixelImage, left: number, top: number, color: number): number {
  let sum = 0;
  for (let y = top; y < top + SHRINK; y++) {
    for (let x = left; x < left + SHRINK; x++) sum += pixels[(y * width + x) * 3 + color] as number;
  }
  return Math.floor(sum / SHRINK ** 2 + 0.5);
}

/** How often the light changes, and its step in gray levels. */
const HOURS = 16;
const STEP = 50;

function light({ pixels, ...size }: PixelImage, hour: number): PixelImage {
  const lit = pixels.slice();
  const [red, green] = [STEP * (hour % 4), STEP * Math.floor(hour / 4)];
  for (let at = 0; at < lit.length; at += 3) {
    lit[at] = Math.min(255, (lit[at] as number) + red);
    lit[at + 1] = Math.min(255, (lit[at + 1] as number) + green);
  }
  return { ...size, pixels: lit };
}

const PLACES: readonly Box[] = [0, 1, 2, 3].map((cell) => {
  const [left, top] = [(cell % 2) * DIGIT_SIZE, Math.floor(cell / 2) * DIGIT_SIZE];
  return [left, top, left + DIGIT_SIZE, top + DIGIT_SIZE] as const;
});

/** When and where the card lies; which of both come together never happens in the other split. */
function layOut(options: CardVideoOptions, split: Split, index: number): CardVideoFacts {
  const { seed, frameCount, cardFrames, digitFrames } = options;
  const random = randomAt(seed, 'card-video-layout', split, index);
  for (;;) {
    // The first frame and the last are always empty.
    const start = 1 + random.integer(frameCount - cardFrames - 1);
    const cell = random.integer(PLACES.length);
    const isHeldOut = (start * PLACES.length + cell) % HELD_OUT_ONE_IN === 0;
    if (isHeldOut !== (split === 'heldOut')) continue;
    const turned = start + Math.ceil((cardFrames - digitFrames) / 2);
    return {
      card: [start, start + cardFrames],
      digit: [turned, turned + digitFrames],
      place: PLACES[cell] as Box,
    };
  }
}

function isWithin(frame: number, [first, end]: readonly [number, number]): boolean {
  return first <= frame && frame < end;
}

function lay(table: PixelImage, card: PixelImage, [left, top]: Box): PixelImage {
  const pixels = table.pixels.slice();
  for (let y = 0; y < card.height; y++) {
    const row = card.pixels.subarray(y * card.width * 3, (y + 1) * card.width * 3);
    pixels.set(row, ((top + y) * table.width + left) * 3);
  }
  return { ...table, pixels };
}

async function makeTask(options: CardVideoOptions, split: Split, index: number): Promise<Task> {
  const { frameCount } = options;
  const { facts, answer, frame } = drawCardClip(split, index, options);
  const video = {
    width: CARD_VIDEO_SIZE,
    height: CARD_VIDEO_SIZE,
    framesPerSecond: FRAMES_PER_SECOND,
  };
  const frames = await Promise.all(Array.from({ length: frameCount }, (_, i) => frame(i)));
  return {
    id: taskId('card-video', split, index),
    question: cardVideoQuestion,
    images: [],
    videos: [{ name: 'video_clue_0', encoded: encodeAvi(frames, video), ...video, frameCount }],
    answer,
    metadata: { ...facts },
  };
}
