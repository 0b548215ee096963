/** Geometry of points with coordinates: angles, areas, circles, distances, as VISTA-Gym's tool names them. */
import { z } from 'zod';
import { DeclinedError } from '../workers/vision-engine.ts';

const coordinate = z.number().min(-1e9).max(1e9);
const point = z.tuple([coordinate, coordinate]);
type Point = readonly [number, number];

type Result = Readonly<Record<string, unknown>>;

interface CoordinateFunction {
  readonly schema: z.ZodObject;
  compute(given: never): Result;
}

function define<Shape extends z.ZodRawShape>(
  shape: Shape,
  compute: (given: z.output<z.ZodObject<Shape, z.core.$strict>>) => Result,
): CoordinateFunction {
  return { schema: z.strictObject(shape), compute: compute as (given: never) => Result };
}

const triangle = { A: point, B: point, C: point };
const degrees = (radians: number): number => (radians * 180) / Math.PI;
const distance = ([ax, ay]: Point, [bx, by]: Point): number => Math.hypot(ax - bx, ay - by);

/** Twice the signed area. */
function cross(a: Point, b: Point, c: Point): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

function angleAt(vertex: Point, a: Point, b: Point): number {
  const dot = (a[0] - vertex[0]) * (b[0] - vertex[0]) + (a[1] - vertex[1]) * (b[1] - vertex[1]);
  return degrees(Math.atan2(Math.abs(cross(vertex, a, b)), dot));
}

/** Relative to the size of what is compared: coordinates may be tiny or huge. */
const isNear = (a: number, b: number): boolean =>
  Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b), 1e-300);

function checkTriangle(a: Point, b: Point, c: Point): void {
  const longest = Math.max(distance(a, b), distance(b, c), distance(c, a));
  if (Math.abs(cross(a, b, c)) <= 1e-12 * longest * longest) {
    throw new DeclinedError('CannotAnswer', 'The three points lie on one line. Give a triangle.');
  }
}

/** The functions by their names. */
export const coordinateFunctions = {
  triangle_angle: define({ ...triangle, vertex: z.enum(['A', 'B', 'C']).optional() }, (given) => {
    const { A, B, C, vertex = 'A' } = given;
    checkTriangle(A, B, C);
    const angle = {
      A: () => angleAt(A, B, C),
      B: () => angleAt(B, C, A),
      C: () => angleAt(C, A, B),
    };
    const value = angle[vertex]();
    return { angle_degrees: value, angle_radians: (value * Math.PI) / 180, vertex };
  }),
  triangle_all_angles: define(triangle, ({ A, B, C }) => {
    checkTriangle(A, B, C);
    return { A: angleAt(A, B, C), B: angleAt(B, C, A), C: angleAt(C, A, B) };
  }),
  triangle_area: define(triangle, ({ A, B, C }) => ({
    area: Math.abs(cross(A, B, C)) / 2,
    perimeter: distance(A, B) + distance(B, C) + distance(C, A),
  })),
  triangle_type: define(triangle, ({ A, B, C }) => {
    checkTriangle(A, B, C);
    const sides = [distance(A, B), distance(B, C), distance(C, A)].sort((a, b) => a - b);
    const [a = 0, b = 0, c = 0] = sides;
    const is_right = isNear(a * a + b * b, c * c);
    return {
      is_equilateral: isNear(a, c),
      is_isosceles: isNear(a, b) || isNear(b, c),
      is_scalene: !isNear(a, b) && !isNear(b, c),
      is_right,
      is_acute: !is_right && a * a + b * b > c * c,
      is_obtuse: !is_right && a * a + b * b < c * c,
      sides,
    };
  }),
  circle_from_points: define({ p1: point, p2: point, p3: point }, ({ p1, p2, p3 }) => {
    checkTriangle(p1, p2, p3);
    const [x, y] = [p2[0] - p1[0], p2[1] - p1[1]];
    const [u, v] = [p3[0] - p1[0], p3[1] - p1[1]];
    const twice = 2 * (x * v - y * u);
    const [first, second] = [x * x + y * y, u * u + v * v];
    const [cx, cy] = [(v * first - y * second) / twice, (x * second - u * first) / twice];
    const radius = Math.hypot(cx, cy);
    return { center: [p1[0] + cx, p1[1] + cy], radius, ...circle(radius) };
  }),
  inscribed_angle: define(
    {
      center: point.optional(),
      radius: z.number().positive().max(1e9),
      angle_degrees: z.number().positive().max(180),
    },
    ({ radius, angle_degrees }) => {
      const central = 2 * angle_degrees;
      const radians = (central * Math.PI) / 180;
      return {
        inscribed_angle: angle_degrees,
        central_angle: central,
        arc_length: radius * radians,
        sector_area: (radius * radius * radians) / 2,
      };
    },
  ),
  polygon_area: define({ vertices: z.array(point).min(3).max(1000) }, ({ vertices }) => {
    const next = (index: number, by: number): Point =>
      vertices[(index + by) % vertices.length] ?? [0, 0];
    let [area, perimeter] = [0, 0];
    const turns = new Set<number>();
    for (const [index, here] of vertices.entries()) {
      const [x, y] = next(index, 1);
      area += here[0] * y - here[1] * x;
      perimeter += distance(here, [x, y]);
      turns.add(Math.sign(cross(here, next(index, 1), next(index, 2))));
    }
    const is_convex = !(turns.has(1) && turns.has(-1));
    return { area: Math.abs(area) / 2, perimeter, num_vertices: vertices.length, is_convex };
  }),
  angle_between_lines: define(
    { p1: point, p2: point, p3: point, p4: point },
    ({ p1, p2, p3, p4 }) => {
      const [u, v] = [p2[0] - p1[0], p2[1] - p1[1]];
      const [x, y] = [p4[0] - p3[0], p4[1] - p3[1]];
      if (Math.hypot(u, v) === 0 || Math.hypot(x, y) === 0) {
        throw new DeclinedError('CannotAnswer', 'A line needs two different points.');
      }
      const value = degrees(Math.atan2(Math.abs(u * y - v * x), Math.abs(u * x + v * y)));
      return {
        angle_degrees: value,
        angle_radians: (value * Math.PI) / 180,
        is_parallel: value < 1e-9,
        is_perpendicular: Math.abs(value - 90) < 1e-9,
      };
    },
  ),
  distance_point_to_line: define(
    { point, line_p1: point, line_p2: point },
    ({ point: [px, py], line_p1: [x, y], line_p2 }) => {
      const [u, v] = [line_p2[0] - x, line_p2[1] - y];
      const size = u * u + v * v;
      if (size === 0) throw new DeclinedError('CannotAnswer', 'A line needs two different points.');
      const along = ((px - x) * u + (py - y) * v) / size;
      const foot: Point = [x + along * u, y + along * v];
      return { distance: distance([px, py], foot), foot_of_perpendicular: foot };
    },
  ),
  triangle_angle_from_two: define(
    { angle1: z.number().positive().max(180), angle2: z.number().positive().max(180) },
    ({ angle1, angle2 }) => {
      if (angle1 + angle2 >= 180) {
        throw new DeclinedError(
          'CannotAnswer',
          'Two angles of a triangle add up to less than 180°.',
        );
      }
      return { angle1, angle2, angle3: 180 - angle1 - angle2, sum: 180 };
    },
  ),
  pythagorean: define({ a: positive(), b: positive(), c: positive() }, ({ a, b, c }) =>
    pythagorean(a, b, c),
  ),
} as const satisfies Readonly<Record<string, CoordinateFunction>>;

function positive(): z.ZodOptional<z.ZodNumber> {
  return z.number().positive().max(1e9).optional();
}

function circle(radius: number): Result {
  return { area: Math.PI * radius * radius, circumference: 2 * Math.PI * radius };
}

/** c is the hypotenuse. */
function pythagorean(a?: number, b?: number, c?: number): Result {
  if ([a, b, c].filter((side) => side !== undefined).length !== 2) {
    throw new DeclinedError('CannotAnswer', 'Give exactly two of the sides a, b and c.');
  }
  if (a !== undefined && b !== undefined)
    return { a, b, c: Math.hypot(a, b), calculated: 'hypotenuse' };
  const leg = a ?? b ?? 0;
  const hypotenuse = c ?? 0;
  if (hypotenuse <= leg) {
    throw new DeclinedError('CannotAnswer', 'The hypotenuse c must be longer than the leg.');
  }
  const other = Math.sqrt((hypotenuse - leg) * (hypotenuse + leg));
  return a === undefined
    ? { a: other, b: leg, c: hypotenuse, calculated: 'leg a' }
    : { a: leg, b: other, c: hypotenuse, calculated: 'leg b' };
}

export type CoordinateFunctionName = keyof typeof coordinateFunctions;

export const coordinateFunctionNames = Object.keys(coordinateFunctions) as [
  CoordinateFunctionName,
  ...CoordinateFunctionName[],
];

/** Numbers with four decimals, as VISTA-Gym's tool gives them. */
export function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toFixed(4)) + 0;
  if (Array.isArray(value)) return value.map(rounded);
  return value;
}
