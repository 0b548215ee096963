/** Figures of all kinds in styles that the reader was not looked at with. */
import type { ToolImage } from '@saccade/tools';
import { asImages, type Draw } from '../quality.ts';
import { type Laid, layOut, type Style } from './scene.ts';
import { sceneKinds } from './scenes.ts';

/** A figure with its truth, and its image as that of a call. */
export interface DrawnFigure extends Laid {
  readonly name: string;
  readonly images: readonly ToolImage[];
}

/** Three figures of each kind. */
const figureCount = 51;
const firstSeed = 3000;

type Numbers = () => number;

/** Mulberry32: the same numbers for a seed everywhere. */
export function numbersFrom(seed: number): Numbers {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function pick<Item>(items: readonly Item[], random: Numbers): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

/**
 * The reader was built with black on white in upright, regular DejaVu Sans, DejaVu Serif and STIX:
 * these are other families or other cuts of those, with other thicknesses and colors, wobble, blur
 * and noise.
 */
function heldOutStyle(random: Numbers): Style {
  const [ink, paper] = pick(
    [
      [
        [20, 20, 20],
        [255, 255, 255],
      ],
      [
        [20, 40, 120],
        [250, 250, 245],
      ],
      [
        [60, 30, 10],
        [250, 240, 215],
      ],
      [
        [235, 235, 235],
        [30, 50, 45],
      ],
    ] as const,
    random,
  );
  return {
    font: pick(
      [
        'cmr10',
        'cmss10',
        'DejaVuSansMono',
        'STIXGeneralItalic',
        'DejaVuSans-Bold',
        'DejaVuSerif-Italic',
      ],
      random,
    ),
    fontSize: 17 + 13 * random(),
    stroke: 1.2 + 2.8 * random(),
    ink,
    paper,
    wobble: pick([0, 0, 0.4, 0.8], random),
    blur: pick([0, 0, 0.5, 0.8], random),
    noise: pick([0, 0, 3, 6], random),
  };
}

/** Figures as they are laid out: one of each kind after the other. */
export function laidFigures(): readonly Laid[] {
  return Array.from({ length: figureCount }, (_, index) => {
    const seed = firstSeed + index;
    const random = numbersFrom(seed);
    const whole = (low: number, high: number): number =>
      low + Math.floor(random() * (high - low + 1));
    const real = (low: number, high: number): number => low + random() * (high - low);
    const make = sceneKinds[index % sceneKinds.length];
    if (make === undefined) throw new RangeError('There is no kind of figure.');
    return layOut(make(whole, real), heldOutStyle(random), random, seed);
  });
}

/** The same figures as images. */
export async function drawnFigures(draw: Draw): Promise<readonly DrawnFigure[]> {
  const drawn = laidFigures().map(async (laid, index) => ({
    ...laid,
    name: `${laid.scene.name} ${firstSeed + index}`,
    images: asImages(await draw('draw_figure', laid.params)),
  }));
  return await Promise.all(drawn);
}
