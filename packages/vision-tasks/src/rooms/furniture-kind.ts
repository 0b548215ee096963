/** A kind of furniture: its names, its sizes, and the blocks that it is made of. */
import type { Color } from '../rendering/page.ts';

/** A block of a piece: its corners as shares of width, depth and height, and its color. */
export type Block = readonly [
  from: readonly [number, number, number],
  to: readonly [number, number, number],
  color: Color,
];

/** A kind of furniture. Its back is at the far end of its depth. */
export interface Furniture {
  readonly name: string;
  readonly plural: string;
  /** Smallest and largest width, depth and height in meters. */
  readonly width: readonly [number, number];
  readonly depth: readonly [number, number];
  readonly height: readonly [number, number];
  /** Whether its back is at a wall. */
  readonly isAtWall: boolean;
  /** Whether a room may have several. */
  readonly comesInNumbers: boolean;
  readonly blocks: readonly Block[];
}
