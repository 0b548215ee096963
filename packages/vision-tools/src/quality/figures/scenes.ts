/** Kinds of figures that textbooks have, with numbers that vary, and a question with its answer. */
import type { Scene } from './scene.ts';

/** A whole number from `low` to `high`. */
type Whole = (low: number, high: number) => number;

type Make = (whole: Whole, real: (low: number, high: number) => number) => Scene;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;
const at = (x: number, y: number, radius: number, degrees: number): readonly [number, number] => [
  x + radius * Math.cos(radians(degrees)),
  y + radius * Math.sin(radians(degrees)),
];
const mix = (
  [ax, ay]: readonly [number, number],
  [bx, by]: readonly [number, number],
  t: number,
): readonly [number, number] => [ax + (bx - ax) * t, ay + (by - ay) * t];

const triples = [
  [3, 4, 5],
  [5, 12, 13],
  [8, 15, 17],
  [6, 8, 10],
  [9, 12, 15],
  [20, 21, 29],
] as const;

/** A triangle with its angles at A and B in degrees, AB from (0, 0) to (10, 0). */
function apex(a: number, b: number): readonly [number, number] {
  const [tanA, tanB] = [Math.tan(radians(a)), Math.tan(radians(b))];
  const x = (10 * tanB) / (tanA + tanB);
  return [x, x * tanA];
}

const twoAngles: Make = (whole) => {
  const [a, b] = [whole(38, 70), whole(40, 68)];
  return {
    name: 'two angles of a triangle',
    points: { A: [0, 0], B: [10, 0], C: apex(a, b) },
    lines: ['AB', 'BC', 'CA'],
    angles: { BAC: `${a}°`, ABC: `${b}°` },
    question: 'Find the measure of angle ACB.',
    answer: 180 - a - b,
  };
};

const rightTriangle: Make = (whole) => {
  const [a, b, c] = triples[whole(0, triples.length - 1)] ?? [3, 4, 5];
  return {
    name: 'right triangle',
    points: { P: [0, 0], Q: [a, 0], R: [0, b] },
    lines: ['PQ', 'QR', 'RP'],
    right: ['QPR'],
    lengths: { PQ: `${a}`, PR: `${b}` },
    question: 'Find the length of QR.',
    answer: c,
  };
};

const isosceles: Make = (whole) => {
  const base = whole(42, 72);
  return {
    name: 'isosceles triangle',
    points: { D: [0, 0], E: [10, 0], F: apex(base, base) },
    lines: ['DE', 'EF', 'FD'],
    ticks: [['DF', 'EF']],
    angles: { FDE: `${base}°` },
    question: 'Find the measure of angle DFE.',
    answer: 180 - 2 * base,
  };
};

const parallelInTriangle: Make = (whole, real) => {
  const [k, m] = [whole(1, 3), whole(2, 4)];
  const unit = whole(2, 5);
  const t = k / (k + m);
  const top = [real(2.5, 7), 8] as const;
  const [a, b, c] = [top, [0, 0] as const, [10, 0] as const];
  return {
    name: 'line parallel to a side',
    points: { A: a, B: b, C: c, D: mix(a, b, t), E: mix(a, c, t) },
    lines: ['ADB', 'AEC', 'DE', 'BC'],
    arrows: [['DE', 'BC']],
    lengths: { AD: `${k * unit}`, DB: `${m * unit}`, DE: `${k * 4}` },
    question: 'Find the length of BC.',
    answer: (k + m) * 4,
  };
};

const altitude: Make = (whole) => {
  const [p, q, r] = triples[whole(0, 3)] ?? [3, 4, 5];
  const rest = whole(Math.ceil(q * 0.6), q * 2);
  return {
    name: 'altitude',
    points: { A: [0, q], B: [-p, 0], C: [rest, 0], D: [0, 0] },
    lines: ['AB', 'BDC', 'CA', 'AD'],
    right: ['ADB'],
    lengths: { AB: `${r}`, BD: `${p}` },
    question: 'Find the length of AD.',
    answer: q,
  };
};

const parallelogram: Make = (whole) => {
  const angle = whole(52, 80);
  const [w, h] = [10, 6];
  const side = at(0, 0, h, angle);
  return {
    name: 'parallelogram',
    points: { A: [0, 0], B: [w, 0], C: [w + side[0], side[1]], D: side },
    lines: ['AB', 'BC', 'CD', 'DA'],
    arrows: [
      ['AB', 'DC'],
      ['AD', 'BC'],
    ],
    angles: { DAB: `${angle}°` },
    question: 'Find the measure of angle ABC.',
    answer: 180 - angle,
  };
};

const diagonals: Make = (whole) => {
  const [a, b] = [whole(4, 9), whole(3, 7)];
  const c = [11.5, 1.2] as const;
  const d = [3.4, 7.1] as const;
  return {
    name: 'diagonals of a parallelogram',
    points: {
      A: [0, 0],
      B: c,
      C: [c[0] + d[0], c[1] + d[1]],
      D: d,
      O: [(c[0] + d[0]) / 2, (c[1] + d[1]) / 2],
    },
    lines: ['AB', 'BC', 'CD', 'DA', 'AOC', 'BOD'],
    lengths: { AO: `${a}`, BO: `${b}` },
    question: 'ABCD is a parallelogram. Find the length of AC.',
    answer: 2 * a,
  };
};

const transversal: Make = (whole) => {
  const angle = whole(48, 76);
  const step = at(0, 0, 7, angle);
  const out = at(0, 0, 3.4, angle);
  const [e, f] = [[0, 0] as const, step];
  return {
    name: 'parallel lines and a transversal',
    points: {
      A: [-6, 0],
      B: [6.5, 0],
      C: [-5 + step[0], step[1]],
      D: [6 + step[0], step[1]],
      E: e,
      F: f,
      G: [-out[0], -out[1]],
      H: [f[0] + out[0], f[1] + out[1]],
    },
    lines: ['AEB', 'CFD', 'GEFH'],
    arrows: [['EB', 'FD']],
    angles: { BEF: `${angle}°` },
    question: 'Find the measure of angle DFE.',
    answer: 180 - angle,
  };
};

const inscribed: Make = (whole) => {
  const half = whole(36, 64);
  const start = 270 - half;
  return {
    name: 'inscribed and central angle',
    points: {
      O: [0, 0],
      A: at(0, 0, 6, start),
      B: at(0, 0, 6, start + 2 * half),
      C: at(0, 0, 6, 90 + whole(-22, 22)),
    },
    circles: { O: 6 },
    dots: 'O',
    lines: ['CA', 'CB', 'OA', 'OB'],
    angles: { ACB: `${half}°` },
    question: 'Find the measure of angle AOB.',
    answer: 2 * half,
  };
};

const thales: Make = (whole) => {
  const angle = whole(28, 60);
  return {
    name: 'angle in a semicircle',
    points: { O: [0, 0], A: [-6, 0], B: [6, 0], C: at(0, 0, 6, 2 * angle) },
    circles: { O: 6 },
    dots: 'O',
    lines: ['AOB', 'BC', 'CA'],
    angles: { BAC: `${angle}°` },
    question: 'Find the measure of angle ABC.',
    answer: 90 - angle,
  };
};

const tangent: Make = (whole) => {
  const [r, t, d] = triples[whole(0, 4)] ?? [3, 4, 5];
  return {
    name: 'tangent',
    points: { O: [0, 0], A: [0, r], P: [t, r] },
    circles: { O: r },
    dots: 'O',
    lines: ['OA', 'AP', 'PO'],
    right: ['OAP'],
    lengths: { OA: `${r}`, AP: `${t}` },
    question: 'Find the length of OP.',
    answer: d,
  };
};

const chords: Make = (whole) => {
  // Chords through (x, y) of the circle with radius 6: the products of their parts agree.
  const [x, y] = [1.2, 1.4];
  const ends = (
    degrees: number,
  ): readonly [readonly [number, number], readonly [number, number]] => {
    const [u, v] = at(0, 0, 1, degrees);
    const middle = x * u + y * v;
    const root = Math.sqrt(middle * middle - (x * x + y * y - 36));
    return [
      [x + (-middle + root) * u, y + (-middle + root) * v],
      [x + (-middle - root) * u, y + (-middle - root) * v],
    ];
  };
  const [[a, b], [c, d]] = [ends(20 + whole(0, 12)), ends(105 + whole(0, 20))];
  const [p, q] = [whole(3, 6), whole(4, 8)];
  return {
    name: 'chords that cross',
    points: { O: [0, 0], A: a, B: b, C: c, D: d, E: [x, y] },
    circles: { O: 6 },
    lines: ['AEB', 'CED'],
    lengths: { AE: `${p}`, EB: `${2 * q}`, CE: `${q}` },
    question: 'Find the length of ED.',
    answer: 2 * p,
  };
};

const vertical: Make = (whole) => {
  const angle = whole(46, 74);
  const [c, d] = [at(0, 0, 6, angle), at(0, 0, 5.5, angle + 180)];
  return {
    name: 'lines that cross',
    points: { A: [-6, 0], B: [6, 0], C: c, D: d, E: [0, 0] },
    lines: ['AEB', 'CED'],
    angles: { BEC: `${angle}°` },
    question: 'Find the measure of angle AEC.',
    answer: 180 - angle,
  };
};

const median: Make = (whole) => {
  const half = whole(3, 9);
  return {
    name: 'median',
    points: { A: [2.6, 7], B: [0, 0], C: [10, 0], M: [5, 0] },
    lines: ['AB', 'BMC', 'CA', 'AM'],
    ticks: [['BM', 'MC']],
    lengths: { BM: `${half}` },
    question: 'Find the length of BC.',
    answer: 2 * half,
  };
};

const unknownAngle: Make = (whole) => {
  const x = whole(12, 19);
  const [a, b] = [2 * x + 14, 3 * x];
  return {
    name: 'angles with a letter',
    points: { K: [0, 0], L: [10, 0], M: apex(a, b) },
    lines: ['KL', 'LM', 'MK'],
    angles: { LKM: `2x+14`, KLM: '3x', KML: `${180 - a - b}°` },
    question: 'Find the value of x.',
    answer: x,
  };
};

const trapezoid: Make = (whole) => {
  const [top, bottom] = [2 * whole(2, 4), 2 * whole(6, 9)];
  const [d, c] = [[(bottom - top) * 0.4, 7] as const, [(bottom - top) * 0.4 + top, 7] as const];
  const [a, b] = [[0, 0] as const, [bottom, 0] as const];
  return {
    name: 'midsegment of a trapezoid',
    points: { A: a, B: b, C: c, D: d, E: mix(a, d, 0.5), F: mix(b, c, 0.5) },
    lines: ['AB', 'BFC', 'CD', 'DEA', 'EF'],
    arrows: [['AB', 'DC']],
    ticks: [
      ['AE', 'ED'],
      ['BF', 'FC'],
    ],
    lengths: { AB: `${bottom}`, CD: `${top}` },
    question: 'Find the length of EF.',
    answer: (top + bottom) / 2,
  };
};

const rectangle: Make = (whole) => {
  const [a, b, c] = triples[whole(0, 3)] ?? [3, 4, 5];
  return {
    name: 'rectangle with a diagonal',
    points: { A: [0, 0], B: [b, 0], C: [b, a], D: [0, a] },
    lines: ['AB', 'BC', 'CD', 'DA', 'AC'],
    right: ['ABC', 'CDA'],
    lengths: { AB: `${b}`, BC: `${a}` },
    question: 'Find the length of AC.',
    answer: c,
  };
};

/** All kinds, in the order in which cases take them. */
export const sceneKinds: readonly Make[] = [
  twoAngles,
  rightTriangle,
  isosceles,
  parallelInTriangle,
  altitude,
  parallelogram,
  diagonals,
  transversal,
  inscribed,
  thales,
  tangent,
  chords,
  vertical,
  median,
  unknownAngle,
  trapezoid,
  rectangle,
];
