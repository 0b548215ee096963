/** Figures in styles: those that the reader was built with, and others that it was not looked at with. */
import { type Laid, layOut, type Style } from './scene.ts';
import { sceneKinds } from './scenes.ts';

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

/** Black on white, in three typefaces, with strokes of usual thickness. */
export function plainStyle(random: Numbers): Style {
  return {
    font: pick(['DejaVuSans', 'STIXGeneral', 'DejaVuSerif'], random),
    fontSize: 18 + 8 * random(),
    stroke: 1.6 + 1.2 * random(),
    ink: [0, 0, 0],
    paper: [255, 255, 255],
    wobble: 0,
    blur: 0,
    noise: 0,
  };
}

/** Typefaces, thicknesses, colors, wobble, blur and noise that `plainStyle` does not have. */
export function heldOutStyle(random: Numbers): Style {
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

/** One figure of each kind after the other. */
export function figureCases(
  count: number,
  firstSeed: number,
  styleOf: (random: Numbers) => Style,
): readonly Laid[] {
  return Array.from({ length: count }, (_, index) => {
    const seed = firstSeed + index;
    const random = numbersFrom(seed);
    const whole = (low: number, high: number): number =>
      low + Math.floor(random() * (high - low + 1));
    const real = (low: number, high: number): number => low + random() * (high - low);
    const make = sceneKinds[index % sceneKinds.length];
    if (make === undefined) throw new RangeError('There is no kind of figure.');
    return layOut(make(whole, real), styleOf(random), random, seed);
  });
}
