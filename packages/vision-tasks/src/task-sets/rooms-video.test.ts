import type { Split, Task } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { roomOperations } from '../rooms/ask-room.ts';
import { furnitureOf } from '../rooms/furniture.ts';
import { roomRenderer } from '../rooms/render.ts';
import { gap, type Piece, type Room } from '../rooms/room.ts';
import { drawsAlike, remembered } from './families.fixture.ts';
import { type RoomsVideoFacts, roomsVideo } from './rooms-video.ts';

/** Fast to draw; the lengths and sizes of the defaults differ in nothing else. */
const small = roomsVideo.with({ frames: 64, width: 96 });
const known = remembered(small);
const splits: readonly Split[] = ['train', 'heldOut'];
const factsOf = ({ metadata }: Task) => metadata as unknown as RoomsVideoFacts;

/** A task of each kind of question, difficulty and split. */
const tasks = await Promise.all(
  roomOperations.flatMap((operation) =>
    splits.flatMap((split) =>
      [split === 'train' ? 1 : 3, 2].slice(0, operation.startsWith('r') ? 2 : 1).map((level) =>
        roomsVideo
          .with({
            frames: 64,
            width: 96,
            operations: [operation],
            easiest: level,
            hardest: level,
          })
          .task(split, 0),
      ),
    ),
  ),
);

const chosen = ({ answer }: Task, { program }: RoomsVideoFacts): string =>
  program.choices?.['ABCD'.indexOf(answer)] ?? '';

/** The answer from the blocks in the metadata, by another way than the code that asks. */
function recompute(facts: RoomsVideoFacts): string {
  const { program, pieces, room } = facts;
  const of = (name: string | undefined) => {
    const found = pieces.filter((piece) => piece.name === name);
    return found[0]?.bounds ?? [];
  };
  const middle = (name: string | undefined): [number, number] => {
    const [x0 = 0, y0 = 0, , x1 = 0, y1 = 0] = of(name);
    return [(x0 + x1) / 2, (y0 + y1) / 2];
  };
  /** The nearest of many points of both blocks: an upper bound that is close. */
  const distance = (a: readonly number[], b: readonly number[]) => {
    const near = (axis: number, value: number) =>
      Math.min(Math.max(value, b[axis] ?? 0), b[axis + 3] ?? 0);
    let least = Number.POSITIVE_INFINITY;
    const steps = 12;
    for (let i = 0; i <= steps; i++) {
      for (let j = 0; j <= steps; j++) {
        for (let k = 0; k <= steps; k++) {
          const point = [i, j, k].map(
            (step, axis) => (a[axis] ?? 0) + (((a[axis + 3] ?? 0) - (a[axis] ?? 0)) * step) / steps,
          );
          const far = Math.hypot(...point.map((value, axis) => value - near(axis, value)));
          least = Math.min(least, far);
        }
      }
    }
    return least;
  };
  const [one, two, three] = program.pieces;
  /** Signed area: positive where the third point is to the left of the way from the first to the second. */
  const cross = (a: [number, number], b: [number, number], c: [number, number]) =>
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const along = (a: [number, number], b: [number, number], c: [number, number]) =>
    (b[0] - a[0]) * (c[0] - a[0]) + (b[1] - a[1]) * (c[1] - a[1]);
  switch (program.operation) {
    case 'object-count':
      return String(pieces.filter(({ name }) => name === one).length);
    case 'absolute-distance':
      return distance(of(one), of(two)).toFixed(2);
    case 'object-size': {
      const [x0 = 0, y0 = 0, z0 = 0, x1 = 0, y1 = 0, z1 = 0] = of(one);
      return String(Math.round(100 * Math.max(x1 - x0, y1 - y0, z1 - z0)));
    }
    case 'room-size':
      return (room[0] * room[1]).toFixed(1);
    case 'relative-distance': {
      const ranked = program.pieces
        .slice(1)
        .sort((a, b) => distance(of(one), of(a)) - distance(of(one), of(b)));
      return ranked[0] ?? '';
    }
    case 'relative-direction': {
      const [a, b, c] = [middle(one), middle(two), middle(three)];
      const side = cross(a, b, c) > 0 ? 'left' : 'right';
      const ahead = along(a, b, c);
      if (facts.difficulty === 1) return side;
      if (facts.difficulty === 3) return `${ahead > 0 ? 'front' : 'back'} ${side}`;
      return -ahead > Math.abs(cross(a, b, c)) ? 'behind' : side;
    }
    case 'route-plan':
      return program.pieces
        .slice(2)
        .map((name, at) => {
          const [from, by, to] = [
            middle(program.pieces[at]),
            middle(program.pieces[at + 1]),
            middle(name),
          ];
          const ahead: [number, number] = [2 * by[0] - from[0], 2 * by[1] - from[1]];
          const back = -along(by, ahead, to);
          if (back > Math.abs(cross(by, ahead, to))) return 'turn around';
          return cross(by, ahead, to) > 0 ? 'turn left' : 'turn right';
        })
        .join(', then ');
    case 'appearance-order': {
      const first = (name: string) =>
        Math.min(...pieces.filter((piece) => piece.name === name).map((piece) => piece.first));
      return [...program.pieces].sort((a, b) => first(a) - first(b)).join(', ');
    }
  }
}

describe('rooms-video', () => {
  it('gives the same task for the same index', () => drawsAlike(small, 2), 60_000);
  for (const { name, check } of taskSetContract.slice(1)) it(name, () => check(known), 60_000);

  it('answers all eight kinds of questions as the blocks of the room say', () => {
    for (const task of tasks) {
      const facts = factsOf(task);
      const { choices, operation } = facts.program;
      const expected = recompute(facts);
      if (choices !== undefined) {
        expect(chosen(task, facts), task.question).toBe(expected);
        expect(new Set(choices).size).toBe(choices.length);
        expect(facts.answerType).toBe('choice');
      } else if (operation === 'absolute-distance') {
        expect(Math.abs(Number(task.answer) - Number(expected)), task.id).toBeLessThan(0.1);
      } else {
        expect(task.answer, task.question).toBe(expected);
        expect(facts.answerType).toBe('number');
      }
    }
  });

  it('puts furniture inside the room, apart from each other, of kinds of its split', () => {
    for (const task of tasks) {
      const { pieces, room } = factsOf(task);
      const split = task.id.includes('heldOut') ? 'heldOut' : 'train';
      for (const [index, { name, bounds }] of pieces.entries()) {
        expect(furnitureOf[split].map((kind) => kind.name)).toContain(name);
        expect(Math.min(...bounds)).toBeGreaterThanOrEqual(0);
        for (const axis of [0, 1, 2]) {
          expect(bounds[axis + 3] ?? 0).toBeLessThanOrEqual((room[axis] ?? 0) + 1e-9);
        }
        for (const other of pieces.slice(index + 1)) {
          expect(
            gap(bounds as unknown as Piece['bounds'], other.bounds as unknown as Piece['bounds']),
          ).toBeGreaterThan(0.27);
        }
      }
    }
    const names = (split: Split) => furnitureOf[split].map(({ name }) => name);
    expect(names('train').filter((name) => names('heldOut').includes(name))).toEqual([]);
  });

  it('shows the pieces that decide where the evidence says', async () => {
    const task = tasks[0] as Task;
    const { evidence } = factsOf(task);
    const [video] = task.videos ?? [];
    expect(evidence.length).toBeGreaterThan(0);
    expect(video).toMatchObject({ frameCount: 64, width: 96, height: 72 });
    // Frames are PNG files within the AVI file.
    const encoded = Buffer.from(video?.encoded ?? []);
    const starts: number[] = [];
    const signature = Buffer.from('\x89PNG\r\n', 'latin1');
    for (let at = encoded.indexOf(signature); at >= 0; at = encoded.indexOf(signature, at + 1)) {
      starts.push(at);
    }
    expect(starts).toHaveLength(64);
    for (const { frame, box } of evidence) {
      const png = encoded.subarray(starts[frame], starts[frame + 1]);
      const [left, top, right, bottom] = box;
      const region = { left, top, width: right - left, height: bottom - top };
      const { channels } = await sharp(png).extract(region).stats();
      expect(Math.max(...channels.map(({ stdev }) => stdev))).toBeGreaterThan(3);
    }
  });

  it('has as many frames as the difficulty says: 64, 128 or 256', async () => {
    const task = await roomsVideo
      .with({ width: 64, easiest: 2, hardest: 2, operations: ['room-size'] })
      .task('train', 0);
    expect(task.videos?.[0]?.frameCount).toBe(128);
  });
});

describe('the renderer', () => {
  const [width, height] = [160, 120];
  const kind = furnitureOf.train[0] as Piece['kind'];
  const white: [number, number, number] = [255, 255, 255];
  const style = { floor: [white, white], wall: white, baseboard: white, ceiling: white } as const;
  const cube = (bounds: Piece['bounds']): Piece => ({
    kind: {
      ...kind,
      blocks: [
        [
          [0, 0, 0],
          [1, 1, 1],
          [10, 20, 30],
        ],
      ],
    },
    size: [1, 1, 1],
    turns: 0,
    bounds,
  });

  it('shows a block where the pinhole equation says', () => {
    const room: Room = {
      width: 10,
      depth: 10,
      height: 3,
      fixtures: [],
      pieces: [cube([4.5, 6, 1, 5.5, 7, 2])],
    };
    const { ids } = roomRenderer(
      room,
      style,
      width,
      height,
    )({ x: 5, y: 2, z: 1.5, yaw: 0, pitch: 0 });
    // u = f·X/Z with f = (w/2)/tan(75°/2) and the near face 4 m ahead, half a meter to each side.
    const half = ((width / 2 / Math.tan((37.5 * Math.PI) / 180)) * 0.5) / 4;
    const columns = Array.from({ length: width }, (_, x) => x).filter(
      (x) => ids[(height / 2) * width + x] === 1,
    );
    expect(columns[0]).toBe(Math.round(width / 2 - half));
    expect(columns.at(-1)).toBe(Math.round(width / 2 + half) - 1);
  });

  it('hides what is behind, also where the camera turns and moves', () => {
    const front = cube([4.5, 5, 0, 5.5, 5.2, 3]);
    const back = cube([4.6, 7, 0.5, 5.4, 7.5, 1.5]);
    const room: Room = { width: 10, depth: 10, height: 3, fixtures: [], pieces: [back, front] };
    const render = roomRenderer(room, style, width, height);
    expect(render({ x: 5, y: 2, z: 1.5, yaw: 0, pitch: 0 }).ids.includes(1)).toBe(false);
    expect(render({ x: 8, y: 6.2, z: 1.5, yaw: -1.3, pitch: 0 }).ids.includes(1)).toBe(true);
    expect(render({ x: 5, y: 2, z: 1.5, yaw: Math.PI, pitch: 0 }).ids.some((id) => id > 0)).toBe(
      false,
    );
  });
});
