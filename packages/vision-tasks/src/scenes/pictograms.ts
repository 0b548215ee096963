/** The pictograms that scenes are made of, separated by split. */
import { readFileSync } from 'node:fs';
import type { Split } from '@saccade/gym';

/** A pictogram as SVG. */
export interface Pictogram {
  readonly split: Split;
  /** The icon set; SOURCES.md has its license. */
  readonly style: string;
  /** The name of the thing that it shows, singular and plural. */
  readonly name: string;
  readonly plural: string;
  /** Side of its square view box. */
  readonly view: number;
  /** The box of what it paints: left, top, right and bottom as shares of the side. */
  readonly painted: readonly [number, number, number, number];
  /** Whether a quarter turn is easy to see. */
  readonly isTurnable: boolean;
  /** Whether another hue is easy to see. */
  readonly isColorful: boolean;
  /** SVG elements. */
  readonly body: string;
}

let file: readonly Pictogram[] | undefined;

/** The pictograms of a split. No kind and no style is in both. */
export function pictogramsOf(split: Split): readonly Pictogram[] {
  file ??= JSON.parse(
    readFileSync(new URL('../../data/pictograms.json', import.meta.url), 'utf8'),
  ) as readonly Pictogram[];
  return file.filter((one) => one.split === split);
}
