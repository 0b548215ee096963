/** Films a room: frames as PNG files, and what each piece of furniture shows of itself. */
import type { Random } from '@saccade/core';
import { type Box, encodeImage, type Split } from '@saccade/gym';
import type { Color } from '../rendering/page.ts';
import type { FilmedRoom, Sight } from './ask-room.ts';
import { drawPath } from './camera.ts';
import { type Frame, type RoomStyle, roomRenderer } from './render.ts';
import { drawRoom, type Room, type RoomPlan } from './room.ts';

/** The frame that shows most of a piece, and where. */
interface BestView {
  readonly frame: number;
  readonly box: Box;
}

/** How long a film is, and how large its frames; pixels. */
export interface FilmSize {
  readonly frames: number;
  readonly width: number;
  readonly height: number;
}

/** A filmed room. */
export interface Film extends FilmedRoom {
  /** Of each piece. */
  readonly views: readonly BestView[];
  /** Draws the frames again, as PNG files: most films are given up before their frames are needed. */
  encode(): Promise<readonly Uint8Array[]>;
}

/** Share of a frame that a piece has to cover to be seen clearly. */
const CLEAR = 0.0012;

const floors: Readonly<Record<Split, readonly (readonly [Color, Color])[]>> = {
  train: [
    [
      [196, 176, 148],
      [176, 154, 124],
    ],
    [
      [172, 178, 184],
      [150, 156, 164],
    ],
  ],
  heldOut: [
    [
      [204, 190, 178],
      [168, 140, 126],
    ],
    [
      [150, 168, 158],
      [128, 146, 138],
    ],
  ],
};
const walls: Readonly<Record<Split, readonly Color[]>> = {
  train: [
    [226, 222, 210],
    [206, 218, 226],
  ],
  heldOut: [
    [228, 212, 200],
    [214, 222, 204],
  ],
};

/** Draws a room, a path and the film; undefined where they do not go together. */
export function filmRoom(
  split: Split,
  difficulty: number,
  plan: RoomPlan,
  { frames: count, width, height }: FilmSize,
  random: Random,
): Film | undefined {
  const drawn = drawRoom(split, plan, random);
  const path = drawn && drawPath(drawn, count, random);
  if (drawn === undefined || path === undefined) return undefined;
  const style: RoomStyle = {
    floor: random.pick(floors[split]),
    wall: random.pick(walls[split]),
    baseboard: [120, 104, 92],
    ceiling: [244, 244, 240],
  };
  const render = roomRenderer(drawn, style, width, height);
  const tallies = drawn.pieces.map(() => new Tally(width * height * CLEAR));
  for (const [index, pose] of path.entries()) addFrame(render(pose), width, tallies, index);
  // What no frame shows a pixel of is not in the room, as far as the film goes.
  const seen = drawn.pieces.flatMap((piece, index) => {
    const tally = tallies[index];
    return tally === undefined || tally.first < 0 ? [] : [{ piece, tally }];
  });
  const room: Room = { ...drawn, pieces: seen.map(({ piece }) => piece) };
  return {
    room,
    difficulty,
    async encode() {
      const frames: Uint8Array[] = [];
      for (const pose of path) {
        frames.push(await encodeImage({ width, height, pixels: render(pose).pixels }));
      }
      return frames;
    },
    sights: seen.map(({ tally }): Sight => {
      const { first, firstClear, clearFrames } = tally;
      return { first, firstClear, clearFrames };
    }),
    views: seen.map(({ tally }) => ({ frame: tally.best, box: tally.box })),
  };
}

/** What the frames show of one piece. */
class Tally {
  readonly #enough: number;
  #most = 0;
  first = -1;
  firstClear = -1;
  clearFrames = 0;
  best = 0;
  box: Box = [0, 0, 1, 1];

  constructor(enough: number) {
    this.#enough = enough;
  }

  add(frame: number, pixels: number, box: Box): void {
    if (pixels === 0) return;
    if (this.first < 0) this.first = frame;
    if (pixels >= this.#enough) {
      this.clearFrames++;
      if (this.firstClear < 0) this.firstClear = frame;
    }
    if (pixels <= this.#most) return;
    this.#most = pixels;
    this.best = frame;
    this.box = box;
  }
}

/** Adds a frame to the tallies. */
function addFrame({ ids }: Frame, width: number, tallies: readonly Tally[], index: number): void {
  const sums = tallies.map(() => 0);
  const boxes = tallies.map((): [number, number, number, number] => [width, ids.length, 0, 0]);
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] ?? 0;
    if (id === 0) continue;
    const box = boxes[id - 1];
    if (box === undefined) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    sums[id - 1] = (sums[id - 1] ?? 0) + 1;
    if (x < box[0]) box[0] = x;
    if (y < box[1]) box[1] = y;
    if (x >= box[2]) box[2] = x + 1;
    if (y >= box[3]) box[3] = y + 1;
  }
  tallies.forEach((tally, piece) => {
    tally.add(index, sums[piece] ?? 0, boxes[piece] ?? [0, 0, 1, 1]);
  });
}
