/** The symbols that a card may show: a few shapes, told apart by their strokes alone. */

export interface CardSymbol {
  /** The name used in the answer. */
  readonly name: string;
  /** Whether the ink covers a place; both coordinates run from −1 to 1, y downwards. */
  readonly covers: (x: number, y: number) => boolean;
}

/** Half the width of a stroke. */
const STROKE = 0.2;

export const symbols: readonly CardSymbol[] = [
  { name: 'cross', covers: (x, y) => Math.abs(x) < STROKE || Math.abs(y) < STROKE },
  { name: 'ring', covers: (x, y) => Math.abs(Math.hypot(x, y) - 0.75) < STROKE },
  { name: 'bars', covers: (_, y) => Math.abs(Math.abs(y) - 0.6) < STROKE },
  { name: 'slash', covers: (x, y) => Math.abs(x + y) < 2 * STROKE },
  { name: 'wedge', covers: (x, y) => y > 2 * Math.abs(x) - 1 && y > -1 },
  { name: 'posts', covers: (x) => Math.abs(Math.abs(x) - 0.6) < STROKE },
];
