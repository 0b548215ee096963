/** Points with coordinates; the truth by other formulas than the tool's, and degenerate points. */
import type { Outcome } from '@saccade/sandbox';
import type { GivenArguments } from '@saccade/tools';
import { numbersFrom } from '../figures/figure-cases.ts';
import {
  type QualityCase,
  type QualitySuite,
  type Scores,
  unanswerableScores,
} from '../quality.ts';

type Point = readonly [number, number];
type Truth = Readonly<Record<string, number | boolean | readonly number[]>>;
type Make = (point: () => Point, random: () => number) => readonly [GivenArguments, Truth];

const rounds = 5;
const degrees = (radians: number): number => (radians * 180) / Math.PI;
const side = ([ax, ay]: Point, [bx, by]: Point): number =>
  Math.sqrt((ax - bx) ** 2 + (ay - by) ** 2);

/** The angle opposite to the first side, by the law of cosines. */
function opposite(a: number, b: number, c: number): number {
  return degrees(Math.acos((b * b + c * c - a * a) / (2 * b * c)));
}

/** Heron's formula. */
function heron(a: number, b: number, c: number): number {
  const half = (a + b + c) / 2;
  return Math.sqrt(half * (half - a) * (half - b) * (half - c));
}

const sidesOf = (A: Point, B: Point, C: Point) => [side(B, C), side(C, A), side(A, B)] as const;
/** The acute angle between two directions from the right. */
function between(one: number, other: number): number {
  const turn = Math.abs(degrees(one - other)) % 180;
  return Math.min(turn, 180 - turn);
}

const makes: Readonly<Record<string, Make>> = {
  triangle_angle: (point) => {
    const [A, B, C] = [point(), point(), point()];
    const [a, b, c] = sidesOf(A, B, C);
    return [{ A, B, C, vertex: 'B' }, { angle_degrees: opposite(b, c, a) }];
  },
  triangle_all_angles: (point) => {
    const [A, B, C] = [point(), point(), point()];
    const [a, b, c] = sidesOf(A, B, C);
    return [
      { A, B, C },
      { A: opposite(a, b, c), B: opposite(b, c, a), C: opposite(c, a, b) },
    ];
  },
  triangle_area: (point) => {
    const [A, B, C] = [point(), point(), point()];
    const [a, b, c] = sidesOf(A, B, C);
    return [
      { A, B, C },
      { area: heron(a, b, c), perimeter: a + b + c },
    ];
  },
  triangle_type: (point, random) => {
    // A right triangle with whole sides, moved, and turned by a quarter now and then.
    const [x, y] = point().map(Math.round) as [number, number];
    const [a, b] = random() < 0.5 ? [3, 4] : [12, 5];
    const [B, C]: readonly [Point, Point] = [
      [x + a, y],
      [x, y + b],
    ];
    const truth = { is_right: true, is_acute: false, is_isosceles: false, is_scalene: true };
    return [{ A: [x, y], B, C }, truth];
  },
  circle_from_points: (point, random) => {
    const [x, y] = point();
    const radius = 1 + 9 * random();
    const on = (angle: number): Point => [
      x + radius * Math.cos(angle),
      y + radius * Math.sin(angle),
    ];
    const [p1, p2, p3] = [on(random()), on(2 + random()), on(4 + random())];
    const area = Math.PI * radius ** 2;
    return [
      { p1, p2, p3 },
      { center: [x, y], radius, area },
    ];
  },
  inscribed_angle: (_point, random) => {
    const [radius, angle] = [1 + 9 * random(), 10 + 150 * random()];
    const share = (2 * angle) / 360;
    return [
      { radius, angle_degrees: angle },
      { arc_length: share * 2 * Math.PI * radius, sector_area: share * Math.PI * radius ** 2 },
    ];
  },
  polygon_area: (_point, random) => {
    // A regular polygon, whose area has a formula of its own.
    const [count, radius, turn] = [3 + Math.floor(6 * random()), 1 + 9 * random(), random()];
    const vertices = Array.from({ length: count }, (_, index): Point => {
      const angle = turn + (2 * Math.PI * index) / count;
      return [radius * Math.cos(angle), radius * Math.sin(angle)];
    });
    const area = (count * radius ** 2 * Math.sin((2 * Math.PI) / count)) / 2;
    const perimeter = 2 * count * radius * Math.sin(Math.PI / count);
    return [{ vertices }, { area, perimeter, is_convex: true }];
  },
  angle_between_lines: (point) => {
    const [p1, p2, p3, p4] = [point(), point(), point(), point()];
    const way = (from: Point, to: Point): number => Math.atan2(to[1] - from[1], to[0] - from[0]);
    return [{ p1, p2, p3, p4 }, { angle_degrees: between(way(p1, p2), way(p3, p4)) }];
  },
  distance_point_to_line: (point) => {
    const [one, line_p1, line_p2] = [point(), point(), point()];
    // The height of the triangle over the line.
    const area = heron(side(one, line_p1), side(one, line_p2), side(line_p1, line_p2));
    return [{ point: one, line_p1, line_p2 }, { distance: (2 * area) / side(line_p1, line_p2) }];
  },
  triangle_angle_from_two: (_point, random) => {
    const [angle1, angle2] = [10 + 70 * random(), 10 + 70 * random()];
    return [{ angle1, angle2 }, { angle3: 180 - (angle1 + angle2) }];
  },
  pythagorean: (_point, random) => {
    const [m, n] = [2 + Math.floor(8 * random()), 1];
    return [{ a: m * m - n * n, c: m * m + n * n }, { b: 2 * m * n }];
  },
};

/** Points from which nothing can be computed. */
const degenerate: Readonly<Record<string, GivenArguments>> = {
  triangle_angle: { A: [0, 0], B: [1, 1], C: [2, 2] },
  triangle_type: { A: [1, 1], B: [1, 1], C: [4, 5] },
  circle_from_points: { p1: [0, 1], p2: [0, 2], p3: [0, 5] },
  angle_between_lines: { p1: [1, 1], p2: [1, 1], p3: [0, 0], p4: [1, 0] },
  distance_point_to_line: { point: [0, 0], line_p1: [3, 3], line_p2: [3, 3] },
  triangle_angle_from_two: { angle1: 120, angle2: 70 },
  pythagorean: { a: 5, c: 4 },
};

export const sympyGeometry: QualitySuite = {
  tool: 'sympy_geometry',
  backing: 'formulas in double precision; no weights',
  async cases() {
    const random = numbersFrom(1200);
    const coordinate = (): number => Math.round(2000 * random() - 1000) / 100;
    const point = (): Point => [coordinate(), coordinate()];
    const known = Object.entries(makes).flatMap(([name, make]) =>
      Array.from({ length: rounds }, (_, index): QualityCase => {
        const [args, truth] = make(point, random);
        return {
          name: `${name} ${index}`,
          images: [],
          given: { function: name, args },
          score: (outcome) => numberScores(outcome, truth),
        };
      }),
    );
    const open = Object.entries(degenerate).map(
      ([name, args]): QualityCase => ({
        name: `${name}, degenerate`,
        images: [],
        given: { function: name, args },
        score: unanswerableScores,
      }),
    );
    return [...known, ...open];
  },
};

/** The share of numbers that are right to four decimals. */
function numberScores({ stdout }: Outcome, truth: Truth): Scores {
  const said = new Map(
    [...stdout.matchAll(/^(\w+): (.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  const right = Object.entries(truth).filter(([name, wanted]) => {
    const value: unknown = JSON.parse(said.get(name) ?? 'null');
    if (typeof wanted === 'boolean') return value === wanted;
    const [found, all] = [[value].flat(), [wanted].flat()];
    return all.every((one, index) => Math.abs(Number(found[index] ?? Number.NaN) - one) < 1e-4);
  });
  return { values: right.length / Object.keys(truth).length };
}
