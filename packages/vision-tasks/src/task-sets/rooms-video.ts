/**
 * `rooms-video`: how large, how far, how many, in which order? A camera looks around in a furnished room.
 *
 * Counterpart of VSI-Bench (Yang et al. 2024, arXiv:2412.14171): its eight kinds of questions about a film
 * of a room whose measures are known exactly. Films are lossless AVI files as those of `card-video`, 64 to
 * 256 frames. Numbers are scored by mean relative accuracy, choices by their letter. No kind of furniture
 * and no color of the held-out split's rooms is in train.
 */
import { ConfigError, type Random, randomAt } from '@saccade/core';
import { count, optionalCount, type SettingsOf, textList } from '@saccade/core/settings';
import { type Box, defineTaskSet, encodeAvi, type Split, type Task } from '@saccade/gym';
import { z } from 'zod';
import {
  askRoom,
  type RoomOperation,
  type RoomProgram,
  type RoomQuestion,
  roomOperations,
} from '../rooms/ask-room.ts';
import { type Film, type FilmSize, filmRoom } from '../rooms/film-room.ts';
import type { RoomPlan } from '../rooms/room.ts';
import { cachedTasks, cacheSetting } from '../stored-tasks/task-cache.ts';
import { checkDifficulties, difficultySettings, drawDifficulty, someOf } from './difficulty.ts';

const settings = z.strictObject({
  ...difficultySettings('rooms, paths and questions', 'larger rooms, more furniture, longer films'),
  frames: optionalCount({
    min: 16,
    max: 1024,
    unit: 'frames',
    about: 'Length of a film; without it, 64, 128 or 256 by difficulty.',
  }),
  width: count({
    min: 64,
    max: 1920,
    default: 448,
    unit: 'pixels',
    about: 'Width of a frame; it is three quarters as high.',
  }),
  operations: textList({
    unit: 'kinds of questions',
    about: `Some of ${roomOperations.join(', ')}; none means all.`,
  }),
  cache: cacheSetting,
});

type Settings = SettingsOf<typeof settings>;

/** Facts of a task, in its metadata. */
export interface RoomsVideoFacts {
  readonly family: 'rooms-video';
  /** 1 to 3. */
  readonly difficulty: number;
  /** Frames are fetched by code; no image has to be turned or cut. */
  readonly requiredTools: readonly string[];
  /** `number`: mean relative accuracy; `choice`: the letter. */
  readonly answerType: 'number' | 'choice';
  readonly program: RoomProgram;
  /** Width, depth and height in meters. */
  readonly room: readonly [number, number, number];
  /** All furniture that the film shows. */
  readonly pieces: readonly {
    readonly name: string;
    /** Smallest x, y and z, then the largest; meters. */
    readonly bounds: readonly number[];
    /** Width, depth and height as it is made; meters. */
    readonly size: readonly number[];
    /** First frame that shows a pixel of it. */
    readonly first: number;
  }[];
  /** The frame that shows most of each piece that decides, and where; pixels. */
  readonly evidence: readonly {
    readonly name: string;
    readonly frame: number;
    readonly box: Box;
  }[];
  readonly source: string;
}

const TASKS = 1_000_000;
const FRAMES_PER_SECOND = 8;
/** Frames of a film by difficulty 1 to 3. */
const framesOf = [64, 128, 256] as const;
const plans: readonly RoomPlan[] = [
  { sides: [3.6, 5], singles: 4, multiples: 1, copies: [2, 3] },
  { sides: [4.2, 6.4], singles: 5, multiples: 2, copies: [2, 4] },
  { sides: [5, 8.5], singles: 5, multiples: 3, copies: [2, 5] },
];
/** Questions about one film before another is made, and films before settings are refused. */
const [TRIES, FILMS] = [40, 400] as const;

/** Spatial questions about films of rooms. */
export const roomsVideo = defineTaskSet({
  name: 'rooms-video',
  description: 'Count, measure, compare and order the furniture that a film of a room shows.',
  settings,
  create(options) {
    checkDifficulties(options);
    const { cache, ...drawn } = options;
    const operations = someOf('operations', options.operations, roomOperations);
    const plain = {
      size: () => TASKS,
      task: (split: Split, index: number) => makeTask(options, operations, split, index),
    };
    return cache === undefined ? plain : cachedTasks(plain, 'rooms-video', drawn, cache);
  },
});

async function makeTask(
  options: Settings,
  operations: readonly RoomOperation[],
  split: Split,
  index: number,
): Promise<Task> {
  const random = randomAt(options.seed, 'rooms-video', split, index);
  const difficulty = drawDifficulty(options, random);
  const operation = random.pick(operations);
  const frameCount = options.frames ?? framesOf[difficulty - 1] ?? framesOf[0];
  const [width, height] = [options.width, Math.round(options.width * 0.75)];
  const size = { frames: frameCount, width, height };
  const { film, asked } = askedFilm(split, difficulty, operation, size, random);
  const { room, sights, views } = film;
  const frames = await film.encode();
  const { program } = asked;
  const facts: RoomsVideoFacts = {
    family: 'rooms-video',
    difficulty,
    requiredTools: [],
    answerType: program.choices === undefined ? 'number' : 'choice',
    program,
    room: [room.width, room.depth, room.height],
    pieces: room.pieces.map((piece, at) => ({
      name: piece.kind.name,
      bounds: piece.bounds,
      size: piece.size,
      first: sights[at]?.first ?? -1,
    })),
    evidence: room.pieces.flatMap(({ kind: { name } }, at) => {
      const view = views[at];
      return view !== undefined && program.pieces.includes(name) ? [{ name, ...view }] : [];
    }),
    source: 'furniture of this package',
  };
  const video = { width, height, framesPerSecond: FRAMES_PER_SECOND };
  return {
    id: `rooms-video-${split}-${String(index).padStart(6, '0')}`,
    question: asked.question,
    images: [],
    videos: [{ name: 'video_clue_0', encoded: encodeAvi(frames, video), ...video, frameCount }],
    answer: asked.answer,
    metadata: { ...facts },
  };
}

/** A film with a question that it decides clearly. */
function askedFilm(
  split: Split,
  difficulty: number,
  operation: RoomOperation,
  size: FilmSize,
  random: Random,
): { readonly film: Film; readonly asked: RoomQuestion } {
  const plan = plans[difficulty - 1] ?? (plans[0] as RoomPlan);
  for (let made = 0; made < FILMS; made++) {
    const film = filmRoom(split, difficulty, plan, size, random);
    for (let tries = 0; film !== undefined && tries < TRIES; tries++) {
      const asked = askRoom(film, operation, random);
      if (asked !== undefined) return { film, asked };
    }
  }
  throw new ConfigError(
    'frames',
    `taskSet.frames: no film of ${size.frames} frames of ${size.width} pixels decides a question of ` +
      `kind ${operation}. Give more or larger frames.`,
  );
}
