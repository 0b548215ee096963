/** Facts that hold by definition of the statements: equations and relations without a theorem. */
import { Fraction } from 'fraction.js';
import type { Point, Relation, RelationName, Statement } from '../cdl/statement.ts';
import { writeStatement } from '../cdl/write-cdl.ts';
import { Real } from '../numbers/real.ts';
import { addEquality } from './evaluate.ts';
import type { Knowledge } from './knowledge.ts';
import { single, sum } from './measures.ts';
import { addParallel, addPerpendicular } from './relations.ts';

/** Says what one relation means, for the reason given. */
class Definitions {
  private readonly knowledge: Knowledge;
  private readonly reason: string;

  constructor(knowledge: Knowledge, reason: string) {
    this.knowledge = knowledge;
    this.reason = reason;
  }

  equalLengths(...pairs: readonly string[]): void {
    const [first, ...others] = pairs.map(ends);
    for (const [c, d] of others) {
      if (first === undefined) return;
      const { measures } = this.knowledge;
      const difference = sum(
        [single(measures.length(...first)), 1],
        [single(measures.length(c, d)), -1],
      );
      this.knowledge.addSum(difference, this.reason);
    }
  }

  equalAngles(first: Triple, second: Triple): void {
    const { measures } = this.knowledge;
    const difference = sum([measures.angle(...first), 1], [measures.angle(...second), -1]);
    this.knowledge.addSum(difference, this.reason);
  }

  angle(a: Point, b: Point, c: Point, degrees: number | Fraction): void {
    const angle = this.knowledge.measures.angle(a, b, c);
    const value = Real.of(degrees instanceof Fraction ? degrees : new Fraction(degrees));
    this.knowledge.addSum(
      { terms: angle.terms, constant: angle.constant.subtract(value) },
      this.reason,
    );
  }

  parallel(a: Point, b: Point, c: Point, d: Point): void {
    addParallel(this.knowledge, [a, b], [c, d], this.reason, []);
  }

  perpendicular(a: Point, b: Point, c: Point, d: Point): void {
    addPerpendicular(this.knowledge, [a, b], [c, d], this.reason);
  }

  /** The segment between both is `times` the measure of that name. */
  isMeasure(a: Point, b: Point, name: 'radius' | 'height', of: readonly Point[], times = 1): void {
    const { measures } = this.knowledge;
    const [circle] = of;
    const measure =
      name === 'radius' && circle !== undefined
        ? measures.radius(circle)
        : measures.measure(name, of);
    this.knowledge.addSum(
      sum([single(measures.length(a, b)), 1], [single(measure), -times]),
      this.reason,
    );
  }

  fact(name: string, groups: readonly (readonly Point[])[], text: string): void {
    this.knowledge.addFact(name, groups, text, this.reason);
  }

  get figure(): Knowledge['figure'] {
    return this.knowledge.figure;
  }
}

type Triple = readonly [Point, Point, Point];
type Define = (say: Definitions, ...points: readonly Point[]) => void;

/** Two points of a pair that is written with a space: `A B`. */
function ends(pair: string): readonly [Point, Point] {
  const [a = '', b = ''] = pair.split(' ');
  return [a, b];
}

const parallelogram: Define = (say, a = '', b = '', c = '', d = '') => {
  say.parallel(a, d, b, c);
  say.parallel(b, a, c, d);
};
const rectangle: Define = (say, a = '', b = '', c = '', d = '') => {
  parallelogram(say, a, b, c, d);
  say.angle(a, b, c, 90);
  say.angle(b, c, d, 90);
  say.angle(c, d, a, 90);
  say.angle(d, a, b, 90);
};
const rhombus: Define = (say, a = '', b = '', c = '', d = '') => {
  parallelogram(say, a, b, c, d);
  say.equalLengths(`${a} ${b}`, `${b} ${c}`, `${c} ${d}`, `${d} ${a}`);
};
const midpoint: Define = (say, m = '', a = '', b = '') =>
  say.equalLengths(`${a} ${m}`, `${m} ${b}`);
const bisector: Define = (say, p = '', q = '', a = '', b = '', c = '') => {
  const inner = p === b ? q : p;
  say.equalAngles([a, b, inner], [inner, b, c]);
};

/** For each relation what it says; the points of its groups come one after another. */
const definitions: Partial<Record<RelationName, Define>> = {
  RightTriangle: (say, a = '', b = '', c = '') => say.angle(a, b, c, 90),
  IsoscelesTriangle: (say, a = '', b = '', c = '') => say.equalLengths(`${a} ${b}`, `${a} ${c}`),
  IsoscelesRightTriangle: (say, a = '', b = '', c = '') => {
    say.angle(b, a, c, 90);
    say.equalLengths(`${a} ${b}`, `${a} ${c}`);
  },
  EquilateralTriangle: (say, a = '', b = '', c = '') => {
    say.equalLengths(`${a} ${b}`, `${b} ${c}`, `${c} ${a}`);
    say.angle(a, b, c, 60);
    say.angle(b, c, a, 60);
    say.angle(c, a, b, 60);
  },
  Kite: (say, a = '', b = '', c = '', d = '') => {
    say.equalLengths(`${a} ${b}`, `${a} ${d}`);
    say.equalLengths(`${c} ${b}`, `${c} ${d}`);
  },
  Parallelogram: parallelogram,
  Rhombus: rhombus,
  Rectangle: rectangle,
  Square: (say, ...corners) => {
    rectangle(say, ...corners);
    rhombus(say, ...corners);
  },
  Trapezoid: (say, a = '', b = '', c = '', d = '') => say.parallel(a, d, b, c),
  IsoscelesTrapezoid: (say, a = '', b = '', c = '', d = '') => {
    say.parallel(a, d, b, c);
    say.equalLengths(`${a} ${b}`, `${c} ${d}`);
    say.equalAngles([a, b, c], [b, c, d]);
    say.equalAngles([d, a, b], [c, d, a]);
  },
  RightTrapezoid: (say, a = '', b = '', c = '', d = '') => {
    say.parallel(a, d, b, c);
    say.angle(d, a, b, 90);
    say.angle(a, b, c, 90);
  },
  RegularPolygon: (say, ...corners) => regular(say, corners),
  IsMidpointOfLine: midpoint,
  ParallelBetweenLine: (say, a = '', b = '', c = '', d = '') => say.parallel(a, b, c, d),
  PerpendicularBetweenLine: (say, a = '', b = '', c = '', d = '') => say.perpendicular(a, b, c, d),
  IsPerpendicularBisectorOfLine: (say, c = '', o = '', a = '', b = '') => {
    midpoint(say, o, a, b);
    say.perpendicular(c, o, a, b);
  },
  IsBisectorOfAngle: bisector,
  IsMedianOfTriangle: (say, _a, d = '', _corner, b = '', c = '') => midpoint(say, d, b, c),
  IsAltitudeOfTriangle: (say, a = '', d = '', apex = '', b = '', c = '') => {
    say.perpendicular(a, d, b, c);
    say.isMeasure(a, d, 'height', [apex, b, c]);
  },
  IsMidsegmentOfTriangle: (say, d = '', e = '', a = '', b = '', c = '') => {
    midpoint(say, d, a, b);
    midpoint(say, e, a, c);
  },
  IsCircumcenterOfTriangle: (say, o = '', a = '', b = '', c = '') =>
    say.equalLengths(`${o} ${a}`, `${o} ${b}`, `${o} ${c}`),
  IsIncenterOfTriangle: (say, o = '', a = '', b = '', c = '') => {
    bisector(say, a, o, c, a, b);
    bisector(say, b, o, a, b, c);
    bisector(say, c, o, b, c, a);
  },
  IsCentroidOfTriangle: (say, o = '', a = '', b = '', c = '') =>
    say.fact('centroid', [[o], [a, b, c]], `${o} is the centroid of ${a}${b}${c}`),
  IsOrthocenterOfTriangle: (say, o = '', a = '', b = '', c = '') => {
    say.perpendicular(o, a, b, c);
    say.perpendicular(o, b, c, a);
    say.perpendicular(o, c, a, b);
  },
  CongruentBetweenTriangle: (say, a = '', b = '', c = '', d = '', e = '', f = '') =>
    say.fact(
      'congruent',
      [
        [a, b, c],
        [d, e, f],
      ],
      `△${a}${b}${c} ≅ △${d}${e}${f}`,
    ),
  SimilarBetweenTriangle: (say, a = '', b = '', c = '', d = '', e = '', f = '') =>
    say.fact(
      'similar',
      [
        [a, b, c],
        [d, e, f],
      ],
      `△${a}${b}${c} ∼ △${d}${e}${f}`,
    ),
  // The second triangle is written the other way around: A and D, B and F, C and E belong together.
  MirrorCongruentBetweenTriangle: (say, a = '', b = '', c = '', d = '', e = '', f = '') =>
    say.fact(
      'congruent',
      [
        [a, b, c],
        [d, f, e],
      ],
      `△${a}${b}${c} ≅ △${d}${f}${e}`,
    ),
  MirrorSimilarBetweenTriangle: (say, a = '', b = '', c = '', d = '', e = '', f = '') =>
    say.fact(
      'similar',
      [
        [a, b, c],
        [d, f, e],
      ],
      `△${a}${b}${c} ∼ △${d}${f}${e}`,
    ),
  IsAltitudeOfQuadrilateral: (say, e = '', f = '', a = '', b = '', c = '', d = '') => {
    say.perpendicular(e, f, b, c);
    say.perpendicular(e, f, a, d);
    say.isMeasure(e, f, 'height', [a, b, c, d]);
  },
  IsMidsegmentOfQuadrilateral: (say, e = '', f = '', a = '', b = '', c = '', d = '') => {
    midpoint(say, e, a, b);
    midpoint(say, f, c, d);
  },
  IsDiameterOfCircle: (say, a = '', b = '', circle = '') => {
    say.isMeasure(a, b, 'radius', [circle], 2);
  },
  IsTangentOfCircle: (say, p = '', a = '', circle = '') => {
    const center = say.figure.circles.find(({ name }) => name === circle)?.center ?? circle;
    say.angle(p, a, center, 90);
    say.fact('tangent', [[p, a], [circle]], `${p}${a} touches circle ${circle}`);
  },
  IsMidpointOfArc: (say, m = '', o = '', a = '', b = '') =>
    say.fact('arcMidpoint', [[m], [o, a, b]], `${m} is the midpoint of arc ${a}${b}`),
};

function regular(say: Definitions, corners: readonly Point[]): void {
  const count = corners.length;
  const at = (index: number): Point => corners[index % count] ?? '';
  const sides = corners.map((corner, index) => `${corner} ${at(index + 1)}`);
  say.equalLengths(...sides);
  const degrees = new Fraction(180 * (count - 2), count);
  for (const index of corners.keys()) say.angle(at(index), at(index + 1), at(index + 2), degrees);
  say.fact('regular', [corners], `${corners.join('')} is regular`);
}

/**
 * Puts statements into what is known.
 *
 * @returns the statements that could not be used
 */
export function addGivens(
  knowledge: Knowledge,
  statements: readonly Statement[],
): readonly Statement[] {
  const unused: Statement[] = [];
  for (const statement of statements) {
    if (statement.kind === 'equality') {
      const { left, right } = statement;
      if (!addEquality(left, right, knowledge, 'given')) unused.push(statement);
    } else {
      addRelation(knowledge, statement);
    }
  }
  return unused;
}

function addRelation(knowledge: Knowledge, relation: Relation): void {
  const say = new Definitions(knowledge, `given ${writeStatement(relation)}`);
  definitions[relation.name]?.(say, ...relation.groups.flat());
  const [first = [], second = []] = relation.groups;
  if (relation.name === 'IsCircumscribedToCircle') {
    say.fact(
      'circumscribed',
      [first, second],
      `circle ${second} is inscribed in ${first.join('')}`,
    );
  }
}
