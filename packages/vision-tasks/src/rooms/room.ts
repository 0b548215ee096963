/** A room with furniture at places that are known exactly. Meters; x to the right, y ahead, z up. */
import type { Random } from '@saccade/core';
import type { Split } from '@saccade/gym';
import type { Color } from '../rendering/page.ts';
import { furnitureOf } from './furniture.ts';
import type { Furniture } from './furniture-kind.ts';

/** Corners of a block: the smallest x, y and z, then the largest. */
export type Bounds = readonly [number, number, number, number, number, number];

/** A piece of furniture in a room. */
export interface Piece {
  readonly kind: Furniture;
  /** Width, depth and height as it is made; meters. */
  readonly size: readonly [number, number, number];
  /** Quarter turns counter-clockwise; its back is towards y at 0. */
  readonly turns: 0 | 1 | 2 | 3;
  readonly bounds: Bounds;
}

/** A door or a window, flat on a wall; nothing is asked about it. */
interface Fixture {
  readonly block: Bounds;
  readonly color: Color;
}

/** A room from (0, 0) to (width, depth). */
export interface Room {
  readonly width: number;
  readonly depth: number;
  readonly height: number;
  readonly fixtures: readonly Fixture[];
  readonly pieces: readonly Piece[];
}

/** How large rooms are, and how much is in them. */
export interface RoomPlan {
  /** Shortest and longest side in meters. */
  readonly sides: readonly [number, number];
  /** Kinds of which there is one. */
  readonly singles: number;
  /** Kinds of which there are several, and fewest and most of each. */
  readonly multiples: number;
  readonly copies: readonly [number, number];
}

const HEIGHT = 2.6;
/** Least distance between pieces, and of a piece at a wall to the wall; meters. */
const [APART, AT_WALL] = [0.28, 0.03] as const;
const DRAWS = 80;

const between = ([least, most]: readonly [number, number], random: Random): number =>
  least + random.uniform() * (most - least);
/** Sizes in whole centimeters. */
const inCentimeters = (meters: number): number => Math.round(meters * 100) / 100;

/** Draws a room; undefined where its furniture has no place. */
export function drawRoom(split: Split, plan: RoomPlan, random: Random): Room | undefined {
  const width = inCentimeters(between(plan.sides, random));
  const depth = inCentimeters(between(plan.sides, random));
  const kinds = random.shuffle(furnitureOf[split]);
  const many = kinds.filter(({ comesInNumbers }) => comesInNumbers).slice(0, plan.multiples);
  const single = kinds.filter((kind) => !many.includes(kind)).slice(0, plan.singles);
  const [fewest, most] = plan.copies;
  const wanted = [
    ...single,
    ...many.flatMap((kind) =>
      Array.from({ length: fewest + random.integer(most - fewest + 1) }, () => kind),
    ),
  ];
  // What needs a wall comes first.
  wanted.sort((a, b) => Number(b.isAtWall) - Number(a.isAtWall));
  const pieces: Piece[] = [];
  for (const kind of wanted) {
    const piece = placePiece(kind, width, depth, pieces, random);
    if (piece === undefined) return undefined;
    pieces.push(piece);
  }
  return { width, depth, height: HEIGHT, pieces, fixtures: drawFixtures(width, depth, random) };
}

/** Doors and windows: width, lower and upper edge in meters, and the colors of frame and pane. */
const openings = [
  { size: [0.9, 0, 2.05], frame: [92, 70, 54], pane: [158, 124, 92] },
  { size: [1.2, 0.95, 2.05], frame: [244, 244, 244], pane: [176, 208, 232] },
  { size: [1.2, 0.95, 2.05], frame: [244, 244, 244], pane: [176, 208, 232] },
] as const;
/** How far fixtures stand out from a wall, and how wide their frames are; meters. */
const [RELIEF, FRAME] = [0.008, 0.07] as const;

/** A door and two windows, each on another wall. */
function drawFixtures(width: number, depth: number, random: Random): readonly Fixture[] {
  const walls = random.shuffle([0, 1, 2, 3]);
  return openings.flatMap(({ size: [wide, low, high], frame, pane }, index) => {
    const wall = walls[index] ?? 0;
    const along = wall % 2 === 0 ? width : depth;
    const start = 0.2 + random.uniform() * (along - wide - 0.4);
    const on = (from: number, to: number, z0: number, z1: number, relief: number): Bounds => {
      if (wall === 0) return [from, 0, z0, to, relief, z1];
      if (wall === 1) return [0, from, z0, relief, to, z1];
      if (wall === 2) return [from, depth - relief, z0, to, depth, z1];
      return [width - relief, from, z0, width, to, z1];
    };
    const end = start + wide;
    const inner = on(
      start + FRAME,
      end - FRAME,
      low + (low > 0 ? FRAME : 0),
      high - FRAME,
      2 * RELIEF,
    );
    return [
      { block: on(start, end, low, high, RELIEF), color: frame },
      { block: inner, color: pane },
    ];
  });
}

function placePiece(
  kind: Furniture,
  width: number,
  depth: number,
  taken: readonly Piece[],
  random: Random,
): Piece | undefined {
  const size = [kind.width, kind.depth, kind.height].map((range) =>
    inCentimeters(between(range, random)),
  ) as unknown as Piece['size'];
  for (let draw = 0; draw < DRAWS; draw++) {
    const turns = random.integer(4) as Piece['turns'];
    const [across, along] = turns % 2 === 0 ? [size[0], size[1]] : [size[1], size[0]];
    if (across + 2 * AT_WALL > width || along + 2 * AT_WALL > depth) continue;
    const free = (room: number, own: number) =>
      AT_WALL + random.uniform() * (room - own - 2 * AT_WALL);
    let [x, y] = [free(width, across), free(depth, along)];
    if (kind.isAtWall) {
      // The back, at the far end of the depth, turns with the piece.
      if (turns === 0) y = depth - along - AT_WALL;
      if (turns === 1) x = AT_WALL;
      if (turns === 2) y = AT_WALL;
      if (turns === 3) x = width - across - AT_WALL;
    }
    const bounds: Bounds = [x, y, 0, x + across, y + along, size[2]];
    if (taken.every((other) => gap(bounds, other.bounds) >= APART)) {
      return { kind, size, turns, bounds };
    }
  }
  return undefined;
}

/** The distance between the nearest points of two blocks; 0 where they touch. */
export function gap(a: Bounds, b: Bounds): number {
  const along = (axis: 0 | 1 | 2) =>
    Math.max(0, a[axis] - (b[axis + 3] ?? 0), b[axis] - (a[axis + 3] ?? 0));
  return Math.hypot(along(0), along(1), along(2));
}

/** The distance of a point on the floor to a piece, seen from above. */
export function floorDistance([x, y]: readonly [number, number], { bounds }: Piece): number {
  const beside = (value: number, least: number, most: number) =>
    Math.max(0, least - value, value - most);
  return Math.hypot(beside(x, bounds[0], bounds[3]), beside(y, bounds[1], bounds[4]));
}

/** The middle of a piece seen from above. */
export const middleOf = ({ bounds }: Piece): readonly [number, number] => [
  (bounds[0] + bounds[3]) / 2,
  (bounds[1] + bounds[4]) / 2,
];

/** The blocks of a piece in the room, each with its color. */
export function blocksOf({ kind, bounds, turns }: Piece) {
  const [x0, y0, z0, x1, y1, z1] = bounds;
  const turned = (x: number, y: number): readonly [number, number] => {
    if (turns === 1) return [1 - y, x];
    if (turns === 2) return [1 - x, 1 - y];
    return turns === 3 ? [y, 1 - x] : [x, y];
  };
  return kind.blocks.map(([from, to, color]) => {
    const [ax, ay] = turned(from[0], from[1]);
    const [bx, by] = turned(to[0], to[1]);
    const at = (low: number, high: number, share: number) => low + (high - low) * share;
    const block: Bounds = [
      at(x0, x1, Math.min(ax, bx)),
      at(y0, y1, Math.min(ay, by)),
      at(z0, z1, from[2]),
      at(x0, x1, Math.max(ax, bx)),
      at(y0, y1, Math.max(ay, by)),
      at(z0, z1, to[2]),
    ];
    return { block, color };
  });
}
