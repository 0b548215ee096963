/** Sentences of textbooks about points, lines, triangles and circles, and what they say. */

import { number, operation } from '../cdl/expressions.ts';
import {
  equality,
  type Point,
  pointsOf,
  quantity,
  type RelationName,
  relation,
  type Statement,
} from '../cdl/statement.ts';
import type { Context } from './context.ts';

/** A clause without fillers that fits the whole pattern; groups by their order. */
export interface Rule {
  readonly pattern: RegExp;
  read(context: Context, ...groups: string[]): readonly Statement[] | undefined;
}

const P = "[A-Z][0-9']*";
const PP = `${P}${P}`;
const PPP = `${P}${P}${P}`;
const PPPP = `${P}${P}${P}${P}`;
const MANY = `(?:${P}){3,}`;

function rule(source: string, read: Rule['read']): Rule {
  return { pattern: new RegExp(`^${source}$`), read };
}

const one =
  (name: RelationName) =>
  (_context: Context, ...groups: string[]): readonly Statement[] => [relation(name, ...groups)];

/** `D, E and F` or `D and E`. */
function list(text: string): readonly string[] {
  return text.split(/\s*,\s*|\s*\band\b\s*/).filter((part) => part !== '');
}

/** One statement for each pair of a first and a second list of the same length. */
function eachOf(
  first: string,
  second: string,
  make: (a: string, b: string) => Statement,
): readonly Statement[] | undefined {
  const [a, b] = [list(first), list(second)];
  if (a.length !== b.length) return undefined;
  return a.map((left, index) => make(left, b[index] ?? ''));
}

const listOf = (part: string): string => `${part}(?:\\s*,\\s*(?:and )?${part}|\\s+and ${part})*`;

const shapes: Readonly<Record<string, RelationName>> = {
  parallelogram: 'Parallelogram',
  rectangle: 'Rectangle',
  square: 'Square',
  rhombus: 'Rhombus',
  kite: 'Kite',
};

const shapeNames = Object.keys(shapes).join('|');

const polygons: readonly Rule[] = [
  rule(`(?:in )?(?:quadrilateral )?(${PPPP}) is (${shapeNames})`, (_c, corners, name) => [
    relation(shapes[name] ?? 'Polygon', corners),
  ]),
  rule(`(?:in |there is )?(?:quadrilateral )?(${shapeNames}) (${PPPP})`, (_c, name, corners) => [
    relation(shapes[name] ?? 'Polygon', corners),
  ]),
  rule(
    `(?:in )?(?:isosceles |right )?(?:△|quadrilateral|trapezoid|trapezium|polygon|pentagon|hexagon|octagon)\\s*(${MANY})`,
    one('Polygon'),
  ),
  rule(
    `(?:quadrilateral )?(${PPPP}) is (?:isosceles |right )?(?:trapezoid|trapezium|quadrilateral)`,
    one('Polygon'),
  ),
  rule(`(${MANY}) is regular (?:\\w+)`, one('RegularPolygon')),
  rule(`(?:in )?regular (?:\\w+) (${MANY})`, one('RegularPolygon')),
  rule(
    `(?:in )?(?:trapezoid|trapezium) (${PPPP}) (?:with |has )?(?:bases|parallel) (${PP}) and (${PP})`,
    (_c, corners, a, b) => trapezoid(corners, a, b),
  ),
  rule(
    `(${PP}) and (${PP}) are (?:parallel|bases) (?:of|in) (?:trapezoid|trapezium) (${PPPP})`,
    (_c, a, b, corners) => trapezoid(corners, a, b),
  ),
  rule(`(${PP}) and (${PP}) are bases of (?:trapezoid|trapezium) (${PPPP})`, (_c, a, b, corners) =>
    trapezoid(corners, a, b),
  ),
  rule(
    `(${PP}) and (${PP}) are (?:legs|non-parallel) (?:of|in) (?:trapezoid|trapezium) (${PPPP})`,
    (_c, a, b, corners) => otherBases(corners, a, b),
  ),
  rule(`(${PP}) and (${PP}) are opposite of parallelogram (${PPPP})`, (_c, _a, _b, corners) => [
    relation('Parallelogram', corners),
  ]),
];

/** FormalGeo's trapezoid ABCD has AD parallel to BC: the corners are turned until that holds. */
function trapezoid(
  corners: string,
  first: string,
  second: string,
): readonly Statement[] | undefined {
  const points = pointsOf(corners);
  for (const start of points.keys()) {
    const turned = [...points.slice(start), ...points.slice(0, start)];
    const [a = '', b = '', c = '', d = ''] = turned;
    const bases = [
      isSame(first, a, d) && isSame(second, b, c),
      isSame(second, a, d) && isSame(first, b, c),
    ];
    if (bases.includes(true)) return [relation('Trapezoid', turned.join(''))];
  }
  return undefined;
}

/** A trapezoid by its legs. */
function otherBases(
  corners: string,
  first: string,
  second: string,
): readonly Statement[] | undefined {
  const [a = '', b = '', c = '', d = ''] = pointsOf(corners);
  const areLegs = isSame(first, a, b) || isSame(second, a, b);
  return areLegs ? trapezoid(corners, a + d, b + c) : trapezoid(corners, a + b, c + d);
}

function isSame(pair: string, a: Point, b: Point): boolean {
  return pair === a + b || pair === b + a;
}

const triangles: readonly Rule[] = [
  rule(`(?:in )?△\\s*(${PPP}) is equilateral(?: △)?`, one('EquilateralTriangle')),
  rule(`(?:in )?equilateral △\\s*(${PPP})`, one('EquilateralTriangle')),
  rule(`(?:△\\s*)?(${PPP}) is (?:isosceles|right)(?: △)?`, one('Polygon')),
  rule(`(?:in )?isosceles △\\s*(${PPP}) (?:with )?base (${PP})`, (_c, corners, base) =>
    apexOf(corners, base),
  ),
  rule(`△\\s*(${PPP}) is isosceles (?:△ )?(?:with )?base (${PP})`, (_c, corners, base) =>
    apexOf(corners, base),
  ),
  rule(
    `(?:in )?isosceles △\\s*(${PPP}) (?:with )?(?:apex|vertex ∠|vertex) (${P})`,
    (_c, corners, apex) => isoscelesAt(corners, apex),
  ),
  rule(`(?:in )?right △\\s*(${PPP}) (?:with )?right ∠ (?:at )?(${P})`, (_c, corners, at) =>
    rightAt(corners, at),
  ),
  rule(`△\\s*(${PPP}) is right (?:△ )?(?:with )?right ∠ (?:at )?(${P})`, (_c, corners, at) =>
    rightAt(corners, at),
  ),
  rule(`△\\s*(${PPP}) is right[- ]∠d at (${P})`, (_c, corners, at) => rightAt(corners, at)),
  rule(`(?:in )?right △\\s*(${PPP}) (?:with )?hypotenuse (${PP})`, (_c, corners, side) =>
    rightOpposite(corners, side),
  ),
  rule(`△\\s*(${PPP}) ≅ △\\s*(${PPP})`, one('CongruentBetweenTriangle')),
  rule(`△\\s*(${PPP}) ∼ △\\s*(${PPP})`, one('SimilarBetweenTriangle')),
  rule(
    `△△?\\s*(${PPP}) and (?:△\\s*)?(${PPP}) are congruent(?: △△)?`,
    one('CongruentBetweenTriangle'),
  ),
  rule(`△△?\\s*(${PPP}) and (?:△\\s*)?(${PPP}) are similar(?: △△)?`, one('SimilarBetweenTriangle')),
  rule(`(${PP}) is altitude (?:of|in) △\\s*(${PPP})`, lineOfTriangle('IsAltitudeOfTriangle')),
  rule(`(${PP}) is median (?:of|in) △\\s*(${PPP})`, lineOfTriangle('IsMedianOfTriangle')),
  rule(`(${PP}) is (?:altitude|height) (?:to|on|of) (${PP})`, (_c, line, base) =>
    footOf(line, base),
  ),
  rule(`(${PP}) is midsegment of △\\s*(${PPP}) ∥ (${PP})`, (_c, line, corners, base) =>
    midsegmentOf(line, corners, base),
  ),
  rule(`(${P}) is incenter of △\\s*(${PPP})`, one('IsIncenterOfTriangle')),
  rule(`(${P}) is centroid of △\\s*(${PPP})`, one('IsCentroidOfTriangle')),
  rule(`(${P}) is circumcenter of △\\s*(${PPP})`, one('IsCircumcenterOfTriangle')),
  rule(`(${P}) is orthocenter of △\\s*(${PPP})`, one('IsOrthocenterOfTriangle')),
];

function otherTwo(corners: string, apex: string): readonly [Point, Point] | undefined {
  const [a, b] = pointsOf(corners).filter((corner) => corner !== apex);
  return pointsOf(corners).includes(apex) && a !== undefined && b !== undefined
    ? [a, b]
    : undefined;
}

function isoscelesAt(corners: string, apex: string): readonly Statement[] | undefined {
  const others = otherTwo(corners, apex);
  return others && [relation('IsoscelesTriangle', apex + others.join(''))];
}

function apexOf(corners: string, base: string): readonly Statement[] | undefined {
  const apex = pointsOf(corners).find((corner) => !pointsOf(base).includes(corner));
  return apex === undefined ? undefined : isoscelesAt(corners, apex);
}

function rightAt(corners: string, vertex: string): readonly Statement[] | undefined {
  const others = otherTwo(corners, vertex);
  return others && [relation('RightTriangle', others[0] + vertex + others[1])];
}

function rightOpposite(corners: string, side: string): readonly Statement[] | undefined {
  const vertex = pointsOf(corners).find((corner) => !pointsOf(side).includes(corner));
  return vertex === undefined ? undefined : rightAt(corners, vertex);
}

/** An altitude or median from the corner that it starts in. */
function lineOfTriangle(name: RelationName): Rule['read'] {
  return (_context, line, corners) => {
    const [p = '', q = ''] = pointsOf(line);
    const all = pointsOf(corners);
    const [from, to] = all.includes(p) ? [p, q] : [q, p];
    const others = otherTwo(corners, from);
    if (others === undefined || all.includes(to)) return undefined;
    return [relation(name, from + to, from + others.join(''))];
  };
}

/** The foot of a height is one of its ends; which, the text leaves to the drawing. */
function footOf(line: string, base: string): readonly Statement[] {
  return [relation('PerpendicularBetweenLine', line, base)];
}

function midsegmentOf(
  line: string,
  corners: string,
  base: string,
): readonly Statement[] | undefined {
  const apex = pointsOf(corners).find((corner) => !pointsOf(base).includes(corner));
  const [d = '', e = ''] = pointsOf(line);
  const [b = '', c = ''] = pointsOf(base);
  return apex === undefined ? undefined : [relation('IsMidsegmentOfTriangle', d + e, apex + b + c)];
}

const lines: readonly Rule[] = [
  rule(`(${PP}(?: ∥ ${PP})+)`, (_c, text) => chain(text, '∥', 'ParallelBetweenLine')),
  rule(`(${PP}) and (${PP}) are parallel(?: to each other)?`, one('ParallelBetweenLine')),
  rule(`(${PP}) ⊥ (${PP})`, one('PerpendicularBetweenLine')),
  rule(`(${PP}) and (${PP}) are perpendicular(?: to each other)?`, one('PerpendicularBetweenLine')),
  rule(`(${PP}) ⊥ (${PP}) at (${P})`, (_c, line, base, foot) => perpendicularAt(line, base, foot)),
  rule(
    `(${listOf(P)}) (?:is|are) (?:midpoint|mid-point|midpoints|mid-points|middle) of (${listOf(PP)})`,
    (_c, points, sides) =>
      eachOf(points, sides, (m, side) => relation('IsMidpointOfLine', m, side)),
  ),
  rule(`(${P}) bisects (${PP})`, one('IsMidpointOfLine')),
  rule(`${PP} bisects (${PP}) at (${P})`, (_c, side, m) => [relation('IsMidpointOfLine', m, side)]),
  rule(`(${PP}) (?:is (?:∠ )?bisector of|bisects) ∠\\s*(${PPP})`, one('IsBisectorOfAngle')),
  rule(`(${PP}) (?:is (?:∠ )?bisector of|bisects) ∠\\s*(${P})`, (context, line, vertex) => {
    const corners = context.cornerAt(vertex);
    return corners && [relation('IsBisectorOfAngle', line, corners.join(''))];
  }),
  rule(`(${PP}) is ⊥ bisector of (${PP})`, (_c, line, side) => equidistant(line, side)),
  rule(`(${PP}) is perpendicular bisector of (${PP})`, (_c, line, side) => equidistant(line, side)),
  rule(
    `(${listOf(P)}) (?:is|are|lies|lie)? ?on (${listOf(PP)})(?: of (?:△|\\w+)\\s*${MANY})?`,
    (_c, points, sides) => onSides(points, sides),
  ),
  rule(`(${P}) (?:is|lies)? ?on extension of (${PP})`, (_c, p, side) => [
    relation('Collinear', side + p),
  ]),
  rule(`(?:extend )?(${PP}) (?:is )?(?:extended )?to (${P})`, (_c, side, p) => [
    relation('Collinear', side + p),
  ]),
  rule(`(${listOf(P)}) (?:are|lie)(?: on)? collinear`, (_c, points) => {
    const named = list(points);
    return named.length > 2 ? [relation('Collinear', named.join(''))] : undefined;
  }),
  rule(
    `(?:diagonals |chords |diagonal |chord )?(${PP}) and (${PP}) (?:intersect|meet|cross)(?:s|es)? (?:each other )?(?:at|in) (${P})`,
    (_c, a, b, p) => crossing(a, b, p),
  ),
  rule(
    `(?:diagonal |chord )?(${PP}) (?:intersects|meets|crosses) (?:diagonal |chord )?(${PP}) (?:at|in) (${P})`,
    (_c, a, b, p) => crossing(a, b, p),
  ),
  rule(
    `(?:diagonals? )?(${PP}) and (${PP}) of (?:quadrilateral|(${shapeNames})) (${PPPP}) (?:intersect|meet|cross) (?:at|in) (${P})`,
    (_c, a, b, name, corners, p) => [
      relation(shapes[name] ?? 'Polygon', corners),
      ...crossing(a, b, p),
    ],
  ),
  rule(
    `diagonals (?:of (?:quadrilateral|parallelogram|rectangle|square|rhombus|kite|trapezoid) )?(${PPPP}) (?:intersect|meet|cross) (?:at|in) (${P})`,
    (_c, corners, p) => diagonals(corners, p),
  ),
  rule(`(?:its |whose )?diagonals (?:intersect|meet|cross) (?:at|in) (${P})`, (context, p) => {
    const corners = context.onlyPolygon(4);
    return corners && diagonals(corners.join(''), p);
  }),
  rule(`∠\\s*(${PPP}) is right(?: ∠)?`, (_c, points) => [
    equality(quantity('angle', points), number(90)),
  ]),
  rule(
    `∠∠?\\s*(${PPP}) and (?:∠\\s*)?(${PPP}) are (complementary|supplementary)`,
    (_c, a, b, kind) => [
      equality(
        operation('add', quantity('angle', a), quantity('angle', b)),
        number(kind === 'complementary' ? 90 : 180),
      ),
    ],
  ),
  rule(`(${PP}) ≅ (${PP})`, (_c, a, b) => [equality(quantity('length', a), quantity('length', b))]),
  rule(`∠\\s*(${PPP}) ≅ ∠\\s*(${PPP})`, (_c, a, b) => [
    equality(quantity('angle', a), quantity('angle', b)),
  ]),
];

function chain(text: string, sign: string, name: RelationName): readonly Statement[] {
  const parts = text.split(sign).map((part) => part.trim());
  return parts.slice(1).map((part, index) => relation(name, parts[index] ?? '', part));
}

/** The text does not place the foot: the line is perpendicular to the parts on both sides. */
function perpendicularAt(line: string, base: string, foot: string): readonly Statement[] {
  const from = pointsOf(line).find((end) => end !== foot) ?? '';
  return pointsOf(base)
    .filter((end) => end !== foot)
    .map((end) => relation('PerpendicularBetweenLine', from + foot, end + foot));
}

/** Every point of a perpendicular bisector is as far from both ends. */
function equidistant(line: string, side: string): readonly Statement[] {
  const [a = '', b = ''] = pointsOf(side);
  const equal = pointsOf(line).map((p) =>
    equality(quantity('length', p + a), quantity('length', p + b)),
  );
  return [relation('PerpendicularBetweenLine', line, side), ...equal];
}

function onSides(points: string, sides: string): readonly Statement[] | undefined {
  return eachOf(points, sides, (point, side) => {
    const [a = '', b = ''] = pointsOf(side);
    return relation('Collinear', a + point + b);
  });
}

function crossing(first: string, second: string, at: string): readonly Statement[] {
  return [first, second].flatMap((line) => {
    const [a = '', b = ''] = pointsOf(line);
    return a === at || b === at ? [] : [relation('Collinear', a + at + b)];
  });
}

function diagonals(corners: string, at: string): readonly Statement[] {
  const [a = '', b = '', c = '', d = ''] = pointsOf(corners);
  return crossing(a + c, b + d, at);
}

export const linearRules: readonly Rule[] = [...polygons, ...triangles, ...lines];
export const parts: {
  readonly P: string;
  readonly PP: string;
  readonly PPP: string;
  readonly MANY: string;
} = { P, PP, PPP, MANY };
export { list, listOf, one, rule };
