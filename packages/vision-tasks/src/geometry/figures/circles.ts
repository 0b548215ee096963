/** Figures of circles: inscribed angles, crossing chords, a tangent. */
import type { Random } from '@saccade/core';
import { distance, type Figure, type Point } from '../figure.ts';
import { makeFigure } from '../make-figure.ts';
import {
  acuteAngles,
  angleAddition,
  angleSum,
  baseAngles,
  cyclicQuadrilateral,
  inscribedAngle,
  isoscelesSum,
  linearPair,
  pythagoras,
  segmentAddition,
} from '../theorems.ts';

const radians = Math.PI / 180;
const between = (random: Random, least: number, most: number) =>
  least + random.integer(most - least + 1);

/** The point of a circle around (0, 0) at an angle; degrees. */
const onCircle = (radius: number, angle: number): Point => [
  radius * Math.cos(angle * radians),
  radius * Math.sin(angle * radians),
];

/** A, D, B and C on a circle around O inside ABC, with the radii to A and B. */
export function inscribedAngles(random: Random): Figure {
  const [c, a] = [between(random, 44, 66), between(random, 46, 66)];
  const radius = 10;
  // Arc AB measures 2c, arc BC 2a; D divides arc AB.
  const d = Math.round(2 * c * (0.35 + 0.3 * random.uniform()));
  return makeFigure({
    kind: 'circle-inscribed',
    points: {
      O: [0, 0],
      A: onCircle(radius, 0),
      D: onCircle(radius, d),
      B: onCircle(radius, 2 * c),
      C: onCircle(radius, 2 * c + 2 * a),
    },
    lines: ['AC', 'BC', 'OA', 'OB', 'AD', 'DB', 'AB'],
    circles: [{ center: [0, 0], radius }],
    relations: [
      inscribedAngle('∠AOB', '∠ACB'),
      baseAngles('∠OAB', '∠OBA'),
      isoscelesSum('∠AOB', '∠OAB'),
      isoscelesSum('∠AOB', '∠OBA'),
      angleSum('∠ACB', '∠BAC', '∠ABC'),
      angleAddition('∠BAC', '∠OAB', '∠OAC'),
      angleAddition('∠ABC', '∠OBA', '∠OBC'),
      cyclicQuadrilateral('∠ACB', '∠ADB'),
    ],
    facts: ['{O} is the center of the circle'],
    construction: [
      'Shape({OA},{AB},{BO})',
      'Shape({AC},{CB},{BO},{OA})',
      'Shape({AB},{BD},{DA})',
      'Cocircular({O},{ADBC})',
      'IsCentreOfCircle({O},{O})',
    ],
  });
}

/** Chords AB and CD that cross at P; all parts are integers. */
export function crossingChords(random: Random): Figure {
  const unit = (): number => between(random, 1, 5);
  const [p, q, r, s] = [unit(), unit(), unit(), unit()];
  const scale = between(random, 1, 2);
  const [ap, pb, cp, pd] = [p * q * scale, r * s * scale, p * r * scale, q * s * scale];
  const turn = between(random, 50, 130);
  const [a, b]: [Point, Point] = [
    [-ap, 0],
    [pb, 0],
  ];
  const c = onCircle(cp, turn);
  const center: Point = [(pb - ap) / 2, 0];
  // The center lies on the bisector of AB; its height follows from its distance to C.
  const half = (ap + pb) / 2;
  const height = ((c[0] - center[0]) ** 2 + c[1] ** 2 - half * half) / (2 * c[1]);
  const middle: Point = [center[0], height];
  return makeFigure({
    kind: 'circle-chords',
    points: { A: a, B: b, C: c, D: onCircle(pd, turn + 180), P: [0, 0] },
    lines: ['APB', 'CPD'],
    circles: [{ center: middle, radius: distance(middle, a) }],
    relations: [
      segmentAddition('AB', 'AP', 'PB'),
      segmentAddition('CD', 'CP', 'PD'),
      {
        theorem: 'intersecting chords',
        scale: 'logarithm',
        terms: [
          ['AP', 1],
          ['PB', 1],
          ['CP', -1],
          ['PD', -1],
        ],
        constant: 0,
      },
    ],
    facts: ['the chords {AB} and {CD} meet at {P}'],
    construction: ['Collinear({APB})', 'Collinear({CPD})', 'Cocircular({O},{ACBD})'],
  });
}

/** A tangent from P touches the circle around O at A; PO meets the circle at B. */
export function tangentAngles(random: Random): Figure {
  const center = between(random, 50, 66);
  const radius = 10;
  return makeFigure({
    kind: 'circle-tangent',
    points: {
      O: [0, 0],
      A: onCircle(radius, center),
      B: [radius, 0],
      P: [radius / Math.cos(center * radians), 0],
    },
    lines: ['OA', 'AP', 'OBP', 'AB'],
    circles: [{ center: [0, 0], radius }],
    rightAngles: ['OAP'],
    relations: tangentRelations,
    ...tangentTexts,
  });
}

const tangentRelations = [
  acuteAngles('∠AOP', '∠APO'),
  baseAngles('∠OAB', '∠OBA'),
  isoscelesSum('∠AOP', '∠OAB'),
  isoscelesSum('∠AOP', '∠OBA'),
  acuteAngles('∠OAB', '∠PAB'),
  angleSum('∠PAB', '∠APO', '∠ABP'),
  linearPair('∠OBA', '∠ABP'),
];

const tangentTexts = {
  facts: ['{PA} is tangent to circle {O} at {A}', '{B} lies on {OP}'],
  construction: [
    'Shape({OA},{AB},{BO})',
    'Shape({AP},{PB},{BA})',
    'Collinear({OBP})',
    'Cocircular({O},{AB})',
    'IsCentreOfCircle({O},{O})',
    'IsTangentOfCircle({PA},{O})',
  ],
} as const;

/** The same figure with sides that are integers. */
export function tangentLengths(random: Random): Figure {
  const [radius, tangent, whole] = random.pick([
    [6, 8, 10],
    [5, 12, 13],
    [8, 15, 17],
    [9, 12, 15],
    [12, 16, 20],
    [15, 20, 25],
    [10, 24, 26],
    [20, 21, 29],
    [12, 9, 15],
    [15, 8, 17],
    [21, 20, 29],
    [24, 18, 30],
  ] as const);
  const share = radius / whole;
  return makeFigure({
    kind: 'circle-tangent-lengths',
    points: {
      O: [0, 0],
      A: [radius * share, (radius * tangent) / whole],
      B: [radius, 0],
      P: [whole, 0],
    },
    lines: ['OA', 'AP', 'OBP'],
    circles: [{ center: [0, 0], radius }],
    rightAngles: ['OAP'],
    relations: [
      pythagoras('OP', 'OA', 'AP'),
      segmentAddition('OP', 'OB', 'BP'),
      { ...baseAngles('OA', 'OB'), theorem: 'radii of a circle' },
    ],
    ...tangentTexts,
  });
}
