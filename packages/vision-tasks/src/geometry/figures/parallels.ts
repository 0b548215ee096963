/** Figures of parallel lines: two lines with two transversals, and a parallelogram. */
import type { Random } from '@saccade/core';
import type { Figure, Point } from '../figure.ts';
import { makeFigure } from '../make-figure.ts';
import {
  acuteAngles,
  alternateAngles,
  angleAddition,
  angleSum,
  anglesOnLine,
  coInteriorAngles,
  cornerOfRectangle,
  exteriorAngle,
  linearPair,
  oppositeParts,
} from '../theorems.ts';

const radians = Math.PI / 180;
const between = (random: Random, least: number, most: number) =>
  least + random.integer(most - least + 1);

/** Parallels AB and CD; from E on AB two lines go to F and G on CD. */
export function parallelsWithTransversals(random: Random): Figure {
  const [left, right] = [between(random, 38, 75), between(random, 38, 75)];
  const height = 6;
  const f = -height / Math.tan(left * radians);
  const g = height / Math.tan(right * radians);
  const [start, end] = [f - between(random, 3, 5), g + between(random, 3, 5)];
  return makeFigure({
    kind: 'parallels-transversals',
    points: {
      A: [start, height],
      B: [end, height],
      C: [start, 0],
      D: [end, 0],
      E: [0, height],
      F: [f, 0],
      G: [g, 0],
    },
    lines: ['AEB', 'CFGD', 'EF', 'EG'],
    parallels: [['AB', 'CD']],
    relations: [
      alternateAngles('∠AEF', '∠EFG'),
      alternateAngles('∠BEG', '∠EGF'),
      coInteriorAngles('∠AEF', '∠CFE'),
      coInteriorAngles('∠BEG', '∠DGE'),
      linearPair('∠EFG', '∠CFE'),
      linearPair('∠EGF', '∠DGE'),
      angleSum('∠FEG', '∠EFG', '∠EGF'),
      exteriorAngle('∠CFE', '∠FEG', '∠EGF'),
      exteriorAngle('∠DGE', '∠FEG', '∠EFG'),
      anglesOnLine('∠AEF', '∠FEG', '∠BEG'),
    ],
    facts: ['{AB} is parallel to {CD}'],
    construction: [
      'Shape({EF},{FG},{GE})',
      'Collinear({AEB})',
      'Collinear({CFGD})',
      'ParallelBetweenLine({AB},{CD})',
    ],
  });
}

/** A rectangle ABCD with E on CD, and AE and BE. */
export function rectangleWithPoint(random: Random): Figure {
  const [left, right] = [between(random, 34, 62), between(random, 34, 62)];
  const height = 6;
  const at = height / Math.tan(left * radians);
  const width = at + height / Math.tan(right * radians);
  return makeFigure({
    kind: 'rectangle-point',
    points: { A: [0, height], B: [width, height], C: [width, 0], D: [0, 0], E: [at, 0] },
    lines: ['AB', 'BC', 'DEC', 'AD', 'AE', 'BE'],
    rightAngles: ['ADC', 'BCD'],
    relations: [
      acuteAngles('∠DAE', '∠AED'),
      acuteAngles('∠CBE', '∠BEC'),
      cornerOfRectangle('∠DAE', '∠BAE'),
      cornerOfRectangle('∠CBE', '∠ABE'),
      alternateAngles('∠BAE', '∠AED'),
      alternateAngles('∠ABE', '∠BEC'),
      angleSum('∠BAE', '∠ABE', '∠AEB'),
      anglesOnLine('∠AED', '∠AEB', '∠BEC'),
    ],
    facts: ['{ABCD} is a rectangle', '{E} lies on {CD}'],
    construction: [
      'Shape({AD},{DE},{EA})',
      'Shape({AE},{EB},{BA})',
      'Shape({EC},{CB},{BE})',
      'Collinear({DEC})',
      'Rectangle({ADCB})',
    ],
  });
}

/** A parallelogram ABCD with its diagonal AC. */
export function parallelogramWithDiagonal(random: Random): Figure {
  const [b, part] = [between(random, 55, 110), between(random, 24, 44)];
  const side = 10;
  // In triangle ABC: ∠B = b, ∠BAC = part.
  const third = 180 - b - part;
  const base = (side * Math.sin(part * radians)) / Math.sin(third * radians);
  const a: Point = [side * Math.cos(b * radians), side * Math.sin(b * radians)];
  return makeFigure({
    kind: 'parallelogram-diagonal',
    points: { A: a, B: [0, 0], C: [base, 0], D: [a[0] + base, a[1]] },
    lines: ['AB', 'BC', 'CD', 'DA', 'AC'],
    parallels: [
      ['AB', 'DC'],
      ['AD', 'BC'],
    ],
    relations: [
      oppositeParts('∠ABC', '∠ADC'),
      oppositeParts('∠BAD', '∠BCD'),
      coInteriorAngles('∠ABC', '∠BAD'),
      coInteriorAngles('∠ABC', '∠BCD'),
      coInteriorAngles('∠ADC', '∠BAD'),
      coInteriorAngles('∠ADC', '∠BCD'),
      alternateAngles('∠BAC', '∠ACD'),
      alternateAngles('∠CAD', '∠ACB'),
      angleSum('∠BAC', '∠ABC', '∠ACB'),
      angleSum('∠CAD', '∠ADC', '∠ACD'),
      angleAddition('∠BAD', '∠BAC', '∠CAD'),
      angleAddition('∠BCD', '∠ACB', '∠ACD'),
    ],
    facts: ['{ABCD} is a parallelogram'],
    construction: ['Shape({AB},{BC},{CA})', 'Shape({AC},{CD},{DA})', 'Parallelogram({ABCD})'],
  });
}
