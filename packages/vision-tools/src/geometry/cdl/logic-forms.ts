/** Inter-GPS's logic forms of relations, said in FormalGeo's. */
import { CdlError } from './errors.ts';
import { number } from './expressions.ts';
import { pointsIn } from './points.ts';
import {
  equality,
  type Point,
  quantity,
  type Relation,
  type RelationName,
  type Statement,
} from './statement.ts';
import type { Term } from './term.ts';

type Groups = readonly (readonly Point[])[];
type Translation = (groups: Groups) => readonly Statement[];

const same =
  (name: RelationName): Translation =>
  (groups) => [{ kind: 'relation', name, groups }];

/** The points of a single group, whether written as one argument or as several. */
const flat =
  (name: RelationName): Translation =>
  (groups) => [{ kind: 'relation', name, groups: [groups.flat()] }];

/** Relations whose arguments are the same; the others are translated below. */
const translations: Readonly<Record<string, Translation>> = {
  Parallel: same('ParallelBetweenLine'),
  Perpendicular: same('PerpendicularBetweenLine'),
  Congruent: same('CongruentBetweenTriangle'),
  Similar: same('SimilarBetweenTriangle'),
  Triangle: flat('Polygon'),
  Quadrilateral: flat('Polygon'),
  Pentagon: flat('Polygon'),
  Hexagon: flat('Polygon'),
  Isosceles: ([triangle = []]) => isosceles(triangle),
  Equilateral: flat('EquilateralTriangle'),
  Regular: flat('RegularPolygon'),
  IsMidpointOf: same('IsMidpointOfLine'),
  IsMedianOf: same('IsMedianOfTriangle'),
  IsAltitudeOf: same('IsAltitudeOfTriangle'),
  IsMidsegmentOf: same('IsMidsegmentOfTriangle'),
  IsCentroidOf: same('IsCentroidOfTriangle'),
  IsIncenterOf: same('IsIncenterOfTriangle'),
  IsDiameterOf: same('IsDiameterOfCircle'),
  Tangent: same('IsTangentOfCircle'),
  BisectsAngle: same('IsBisectorOfAngle'),
  InscribedIn: same('IsInscribedInCircle'),
  CircumscribedTo: same('IsCircumscribedToCircle'),
  PointLiesOnLine: (groups) => {
    // A line of the diagram is named by its ends.
    const [point, from, to] = groups.flat();
    return [relationOf('Collinear', [from, point, to])];
  },
  PointLiesOnCircle: (groups) => {
    const [point, circle] = groups.flat();
    return [relationOf('Cocircular', [circle], [point])];
  },
  IsRadiusOf: (groups) => {
    const [a, b, circle] = groups.flat();
    return [
      relationOf('Cocircular', [circle], [a === circle ? b : a]),
      relationOf('IsCentreOfCircle', [circle], [circle]),
    ];
  },
  RightAngle: ([angle = []]) => [equality(quantity('angle', complete(angle, 3)), number(90))],
  Right: ([triangle = []]) => [relationOf('RightTriangle', triangle)],
};

/** Declarations that add points and lines at most. */
const declarations = new Set(['Point', 'Line', 'Angle', 'Circle', 'Arc', 'Shape']);

/** @returns undefined if the term is no logic form that is known */
export function logicForm(term: Extract<Term, { kind: 'call' }>): readonly Statement[] | undefined {
  if (declarations.has(term.name)) {
    const points = term.of.flatMap(pointsIn);
    return term.name === 'Line' && points.length === 2 ? [relationOf('Line', points)] : [];
  }
  // A shape written alone: Square(A, B, C, D) comes as FormalGeo's, Rectangle(ABCD) too.
  const translate = Object.hasOwn(translations, term.name) ? translations[term.name] : undefined;
  return translate?.(term.of.map(pointsIn));
}

/** It is not said which sides are equal: only the fact that it is a triangle can be used. */
function isosceles(triangle: readonly Point[]): readonly Statement[] {
  return [relationOf('Polygon', triangle)];
}

function relationOf(
  name: RelationName,
  ...groups: readonly (readonly (Point | undefined)[])[]
): Relation {
  return {
    kind: 'relation',
    name,
    groups: groups.map((group) => complete(group, group.length)),
  };
}

function complete(points: readonly (Point | undefined)[], count: number): readonly Point[] {
  const given = points.filter((point) => point !== undefined);
  if (given.length === count && count > 0) return given;
  throw new CdlError(`A logic form names ${given.length} points where ${count} are needed.`);
}
