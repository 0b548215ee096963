/** Figures of triangles: with a line through a corner, with a height, with a parallel to a side. */
import type { Random } from '@saccade/core';
import type { Figure, Point } from '../figure.ts';
import { makeFigure } from '../make-figure.ts';
import {
  angleAddition,
  angleSum,
  baseAngles,
  exteriorAngle,
  isoscelesSum,
  linearPair,
  proportion,
  pythagoras,
  segmentAddition,
} from '../theorems.ts';

const radians = Math.PI / 180;

/** An integer in [least, most]. */
const between = (random: Random, least: number, most: number): number =>
  least + random.integer(most - least + 1);

/** The third corner of a triangle on (0, 0) and (base, 0) with these angles there; degrees. */
function apex(base: number, left: number, right: number): Point {
  const side = (base * Math.sin(right * radians)) / Math.sin((left + right) * radians);
  return [side * Math.cos(left * radians), side * Math.sin(left * radians)];
}

/** A triangle ABC with D on BC, and AD. */
export function triangleWithCevian(random: Random): Figure {
  const [b, c] = [between(random, 32, 72), between(random, 32, 72)];
  const part = between(random, 22, 180 - b - c - 22);
  const base = 10;
  const a = apex(base, b, c);
  const along = (Math.hypot(...a) * Math.sin(part * radians)) / Math.sin((b + part) * radians);
  return makeFigure({
    kind: 'triangle-cevian',
    points: { A: a, B: [0, 0], C: [base, 0], D: [along, 0] },
    lines: ['AB', 'AC', 'BDC', 'AD'],
    relations: [
      angleSum('∠BAC', '∠ABC', '∠ACB'),
      angleSum('∠BAD', '∠ABC', '∠ADB'),
      angleSum('∠CAD', '∠ACB', '∠ADC'),
      linearPair('∠ADB', '∠ADC'),
      angleAddition('∠BAC', '∠BAD', '∠CAD'),
      exteriorAngle('∠ADC', '∠BAD', '∠ABC'),
      exteriorAngle('∠ADB', '∠CAD', '∠ACB'),
    ],
    facts: ['{D} lies on {BC}'],
    construction: ['Shape({AB},{BD},{DA})', 'Shape({AD},{DC},{CA})', 'Collinear({BDC})'],
  });
}

/** Right triangles with integer sides, by one leg: [leg, other leg]. */
const triples: readonly (readonly [number, number])[] = Array.from({ length: 60 }, (_, i) => i + 5)
  .flatMap((leg) => Array.from({ length: 60 }, (_, i) => [leg, i + 5] as const))
  .filter(([leg, other]) => Number.isInteger(Math.hypot(leg, other)) && other < 2.2 * leg);

/** A triangle ABC with the height AD; all sides are integers. */
export function triangleWithHeight(random: Random): Figure {
  const [height, left] = random.pick(triples);
  const [, right] = random.pick(triples.filter(([leg]) => leg === height));
  return makeFigure({
    kind: 'triangle-height',
    points: { A: [left, height], B: [0, 0], C: [left + right, 0], D: [left, 0] },
    lines: ['AB', 'AC', 'BDC', 'AD'],
    rightAngles: ['ADC'],
    relations: [
      pythagoras('AB', 'AD', 'BD'),
      pythagoras('AC', 'AD', 'DC'),
      segmentAddition('BC', 'BD', 'DC'),
    ],
    facts: ['{D} lies on {BC}', '{AD} is perpendicular to {BC}'],
    construction: [
      'Shape({AB},{BD},{DA})',
      'Shape({AD},{DC},{CA})',
      'Collinear({BDC})',
      'PerpendicularBetweenLine({AD},{CD})',
    ],
  });
}

/** A triangle ABC with DE parallel to BC; all sides are integers. */
export function triangleWithParallel(random: Random): Figure {
  const whole = between(random, 3, 6);
  const part = between(random, 2, whole - 1);
  const [left, right] = [between(random, 3, 8), between(random, 3, 8)];
  const base = between(random, Math.abs(left - right) + 2, left + right - 2);
  const cosine = (left * left + base * base - right * right) / (2 * left * base);
  const top: Point = [left * whole * cosine, left * whole * Math.sqrt(1 - cosine * cosine)];
  const c: Point = [base * whole, 0];
  const share = part / whole;
  const d: Point = [top[0] * (1 - share), top[1] * (1 - share)];
  const e: Point = [top[0] + (c[0] - top[0]) * share, top[1] * (1 - share)];
  return makeFigure({
    kind: 'triangle-parallel',
    points: { A: top, B: [0, 0], C: c, D: d, E: e },
    lines: ['ADB', 'AEC', 'BC', 'DE'],
    parallels: [['DE', 'BC']],
    relations: [
      segmentAddition('AB', 'AD', 'DB'),
      segmentAddition('AC', 'AE', 'EC'),
      proportion('similar triangles', ['AD', 'AB'], ['AE', 'AC']),
      proportion('similar triangles', ['AD', 'AB'], ['DE', 'BC']),
      proportion('similar triangles', ['AE', 'AC'], ['DE', 'BC']),
      proportion('side splitter', ['AD', 'DB'], ['AE', 'EC']),
    ],
    facts: ['{D} lies on {AB}', '{E} lies on {AC}', '{DE} is parallel to {BC}'],
    construction: [
      'Shape({AD},{DE},{EA})',
      'Shape({DB},{BC},{CE},{ED})',
      'Collinear({ADB})',
      'Collinear({AEC})',
      'ParallelBetweenLine({DE},{BC})',
    ],
  });
}

/** An isosceles triangle ABC with its base extended to D, and AD. */
export function extendedIsosceles(random: Random): Figure {
  const base = between(random, 44, 70);
  const beyond = between(random, 22, base - 20);
  const a = apex(10, base, base);
  const d: Point = [a[0] + a[1] / Math.tan(beyond * radians), 0];
  return makeFigure({
    kind: 'isosceles-extended',
    points: { A: a, B: [0, 0], C: [10, 0], D: d },
    lines: ['AB', 'AC', 'BCD', 'AD'],
    equals: [['AB', 'AC']],
    relations: [
      baseAngles('∠ABC', '∠ACB'),
      isoscelesSum('∠BAC', '∠ABC'),
      isoscelesSum('∠BAC', '∠ACB'),
      linearPair('∠ACB', '∠ACD'),
      exteriorAngle('∠ACD', '∠BAC', '∠ABC'),
      angleSum('∠CAD', '∠ACD', '∠ADC'),
      exteriorAngle('∠ACB', '∠CAD', '∠ADC'),
      angleAddition('∠BAD', '∠BAC', '∠CAD'),
      angleSum('∠BAD', '∠ABC', '∠ADC'),
    ],
    facts: ['{AB} = {AC}', '{C} lies on {BD}'],
    construction: [
      'Shape({AB},{BC},{CA})',
      'Shape({AC},{CD},{DA})',
      'Collinear({BCD})',
      'Equal(LengthOfLine({AB}),LengthOfLine({AC}))',
    ],
  });
}
