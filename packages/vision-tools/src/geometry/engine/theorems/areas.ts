/** Perimeters and areas of polygons that are asked for or given. */
import { addPolynomials, monomial } from '../../algebra/polynomial.ts';
import type { Point } from '../../cdl/statement.ts';
import { Real } from '../../numbers/real.ts';
import { sine, tangent } from '../../numbers/trigonometry.ts';
import type { Knowledge } from '../knowledge.ts';
import { single, sum } from '../measures.ts';
import { isParallel, isPerpendicular } from '../relations.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

/** The polygons whose measure of that name somebody mentioned. */
function* mentioned(
  { measures }: Knowledge,
  name: 'area' | 'perimeter' | 'height',
): Iterable<readonly [number, readonly Point[]]> {
  for (const { id, what } of [...measures.unknowns]) {
    if (what.kind === 'quantity' && what.name === name) yield [id, what.points];
  }
}

function sidesOf({ measures }: Knowledge, corners: readonly Point[]): readonly number[] {
  return corners.map((corner, index) =>
    measures.length(corner, corners[(index + 1) % corners.length] ?? corner),
  );
}

export const perimeters: Theorem = defineTheorem({
  name: 'perimeter',
  level: 1,
  about: ['perimeter', 'length'],
  apply(knowledge) {
    for (const [perimeter, corners] of mentioned(knowledge, 'perimeter')) {
      const sides = sidesOf(knowledge, corners).map((side) => [single(side), -1] as const);
      knowledge.addSum(sum([single(perimeter), 1], ...sides), `perimeter of ${corners.join('')}`);
    }
  },
});

/** ½·base·height, ½·a·b·sin γ, or Heron's formula. */
export const triangleAreas: Theorem = defineTheorem({
  name: 'area of a triangle',
  level: 2,
  about: ['area', 'length'],
  apply(knowledge) {
    for (const [area, corners] of mentioned(knowledge, 'area')) {
      const [a, b, c] = corners;
      if (corners.length !== 3 || a === undefined || b === undefined || c === undefined) continue;
      for (const turned of [
        [a, b, c],
        [b, c, a],
        [c, a, b],
      ] as const) {
        addByHeight(knowledge, area, turned);
        addByAngle(knowledge, area, turned);
      }
      addHeron(knowledge, area, [a, b, c]);
    }
  },
});

type Corners = readonly [Point, Point, Point];

function addByHeight(knowledge: Knowledge, area: number, [a, b, c]: Corners): void {
  const { figure, measures } = knowledge;
  const name = `area of triangle ${a}${b}${c}`;
  const base = measures.length(b, c);
  for (const foot of figure.points) {
    const isOnBase = foot === b || foot === c || figure.areCollinear(b, c, foot);
    if (foot === a || !isOnBase || !figure.areJoined(a, foot)) continue;
    const right = isPerpendicular(knowledge, [a, foot], [b, c]);
    if (right === undefined) continue;
    const powers = [
      [area, 1],
      [base, -1],
      [measures.length(a, foot), -1],
    ] as const;
    knowledge.addRatio(powers, Real.of('0.5'), name, right.premises);
  }
  const hasHeight = [...mentioned(knowledge, 'height')].some(
    ([, points]) =>
      points.length === 3 && points[0] === a && points.every((p) => [a, b, c].includes(p)),
  );
  if (!hasHeight) return;
  const powers = [
    [area, 1],
    [base, -1],
    [measures.measure('height', [a, b, c]), -1],
  ] as const;
  knowledge.addRatio(powers, Real.of('0.5'), name);
}

function addByAngle(knowledge: Knowledge, area: number, [a, b, c]: Corners): void {
  const { measures } = knowledge;
  const angle = knowledge.value(measures.angle(b, a, c));
  if (angle === undefined) return;
  const powers = [
    [area, 1],
    [measures.length(a, b), -1],
    [measures.length(a, c), -1],
  ] as const;
  const half = sine(angle.value).divide(Real.of(2));
  if (half.approx < 1e-9) return;
  knowledge.addRatio(powers, half, `area of triangle ${a}${b}${c} by an angle`, angle.premises);
}

/** 16·A² = 2(a²b² + b²c² + c²a²) − (a⁴ + b⁴ + c⁴), once the sides are known. */
function addHeron(knowledge: Knowledge, area: number, [a, b, c]: Corners): void {
  const { measures } = knowledge;
  if (knowledge.valueOf(area) !== undefined) return;
  const sides = [measures.length(a, b), measures.length(b, c), measures.length(c, a)];
  const known = sides.map((side) => knowledge.valueOf(side));
  const [x, y, z] = known.map((side) => side?.value.power(2));
  if (x === undefined || y === undefined || z === undefined) return;
  const products = x.multiply(y).add(y.multiply(z)).add(z.multiply(x)).multiply(Real.of(2));
  const squares = x.power(2).add(y.power(2)).add(z.power(2));
  const sixteenth = products.subtract(squares).divide(Real.of(16));
  if (sixteenth.approx <= 0) return;
  const premises = known.flatMap((side) => side?.premises ?? []);
  knowledge.addRatio([[area, 1]], sixteenth.root(), `Heron's formula in ${a}${b}${c}`, premises);
}

/** Areas of parallelograms, trapezoids, kites and regular polygons. */
export const polygonAreas: Theorem = defineTheorem({
  name: 'area of a quadrilateral or polygon',
  level: 2,
  about: ['area', 'length'],
  apply(knowledge) {
    for (const [area, corners] of mentioned(knowledge, 'area')) {
      if (corners.length === 4) addQuadrilateral(knowledge, area, corners);
      addRegular(knowledge, area, corners);
    }
  },
});

function addQuadrilateral(knowledge: Knowledge, area: number, corners: readonly Point[]): void {
  const { measures, figure } = knowledge;
  const name = `area of ${corners.join('')}`;
  for (const index of [0, 1, 2, 3]) {
    const [a, b, c, d] = [0, 1, 2, 3].map((step) => corners[(index + step) % 4] ?? '');
    if (a === undefined || b === undefined || c === undefined || d === undefined) continue;
    const parallel = isParallel(knowledge, [a, d], [b, c]);
    if (parallel !== undefined) {
      for (const [height, premises] of heights(knowledge, [a, d], [b, c], corners)) {
        addTrapezoid(
          knowledge,
          area,
          [measures.length(a, d), measures.length(b, c)],
          height,
          name,
          [parallel, ...premises],
        );
      }
    }
    const right = isPerpendicular(knowledge, [a, c], [b, d]);
    const areDrawn = figure.areJoined(a, c) && figure.areJoined(b, d);
    if (right === undefined || !areDrawn || index > 0) continue;
    const powers = [
      [area, 1],
      [measures.length(a, c), -1],
      [measures.length(b, d), -1],
    ] as const;
    const reason = `${name} by perpendicular diagonals`;
    if (figure.orientation.isConvex(corners)) {
      knowledge.addRatio(powers, Real.of('0.5'), reason, right.premises);
    }
  }
}

/** 2·area = (a + c)·height. */
function addTrapezoid(
  knowledge: Knowledge,
  area: number,
  [first, second]: readonly [number, number],
  height: number,
  reason: string,
  premises: readonly number[],
): void {
  const law = addPolynomials(
    monomial(2, [area, 1]),
    monomial(-1, [first, 1], [height, 1]),
    monomial(-1, [second, 1], [height, 1]),
  );
  knowledge.addPolynomial(law, reason, premises);
}

/** Segments that are perpendicular to two parallel lines, from one to the other. */
function* heights(
  knowledge: Knowledge,
  first: readonly [Point, Point],
  second: readonly [Point, Point],
  corners: readonly Point[],
): Iterable<readonly [number, readonly number[]]> {
  const { figure, measures } = knowledge;
  const on = ([a, b]: readonly [Point, Point]): readonly Point[] => [
    ...(figure.lineThrough(a, b)?.points ?? [a, b]),
  ];
  for (const p of on(first)) {
    for (const q of on(second)) {
      if (!figure.areJoined(p, q)) continue;
      const right =
        isPerpendicular(knowledge, [p, q], first) ?? isPerpendicular(knowledge, [p, q], second);
      if (right !== undefined) yield [measures.length(p, q), right.premises];
    }
  }
  // FormalGeo's height of a quadrilateral is the one between its second and fourth side.
  for (const [height, points] of mentioned(knowledge, 'height')) {
    const [a, b, c, d] = points;
    if (points.length !== 4 || a === undefined || b === undefined) continue;
    const isSame = points.every((point) => corners.includes(point));
    const sides = [`${a}${d}`, `${d}${a}`, `${b}${c}`, `${c}${b}`];
    if (isSame && sides.includes(first.join(''))) yield [height, []];
  }
}

/** n·s² / (4·tan(180°/n)). */
function addRegular(knowledge: Knowledge, area: number, corners: readonly Point[]): void {
  for (const { said, id } of knowledge.factsOf('regular')) {
    const [polygon = []] = said.groups;
    const [a, b] = polygon;
    if ([...polygon].sort().join() !== [...corners].sort().join() || !a || !b) continue;
    const count = polygon.length;
    const steepness = tangent(Real.of(180).divide(Real.of(count))).multiply(Real.of(4));
    const side = knowledge.measures.length(a, b);
    const factor = Real.of(count).divide(steepness);
    knowledge.addRatio(
      [
        [area, 1],
        [side, -2],
      ],
      factor,
      'area of a regular polygon',
      [id],
    );
  }
}

/** A polygon is made of triangles: on both sides of a segment from a corner to the opposite side. */
export const areaAddition: Theorem = defineTheorem({
  name: 'areas add up',
  level: 3,
  about: ['area'],
  apply(knowledge) {
    const { figure, measures } = knowledge;
    for (const [area, corners] of mentioned(knowledge, 'area')) {
      const [a, b, c, d] = corners;
      if (a === undefined || b === undefined || c === undefined) continue;
      const name = `area of ${corners.join('')}`;
      if (corners.length === 4 && d !== undefined) {
        if (!figure.orientation.isConvex(corners)) continue;
        for (const [p, q, r, s] of [
          [a, b, c, d],
          [b, c, d, a],
        ] as const) {
          if (!figure.areJoined(p, r)) continue;
          const parts = [measures.measure('area', [p, q, r]), measures.measure('area', [p, r, s])];
          const rest = parts.map((part) => [single(part), -1] as const);
          knowledge.addSum(sum([single(area), 1], ...rest), name);
        }
      }
    }
  },
});

/** Similar triangles: the areas are in proportion to the squares of the sides. */
export const similarAreas: Theorem = defineTheorem({
  name: 'areas and perimeters of similar triangles',
  level: 2,
  about: ['area', 'perimeter'],
  apply(knowledge) {
    const { measures } = knowledge;
    for (const kind of ['similar', 'congruent']) {
      for (const { said, id } of knowledge.factsOf(kind)) {
        const [first = [], second = []] = said.groups;
        const [a, b] = first;
        const [c, d] = second;
        if (a === undefined || b === undefined || c === undefined || d === undefined) continue;
        const sides = [measures.length(a, b), measures.length(c, d)] as const;
        for (const [name, exponent] of [
          ['area', 2],
          ['perimeter', 1],
        ] as const) {
          const names = [...mentioned(knowledge, name)].map(([, points]) =>
            [...points].sort().join(),
          );
          const isAsked = [first, second].some((one) => names.includes([...one].sort().join()));
          if (!isAsked) continue;
          const measured = [measures.measure(name, first), measures.measure(name, second)] as const;
          knowledge.addRatio(
            [
              [measured[0], 1],
              [measured[1], -1],
              [sides[0], -exponent],
              [sides[1], exponent],
            ],
            Real.one,
            `${name}s of similar triangles`,
            [id],
          );
        }
      }
    }
  },
});
