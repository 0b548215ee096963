/** Whether a statement follows from what is known. */
import type { Equality, Point, Relation, RelationName, Statement } from '../cdl/statement.ts';
import { Real } from '../numbers/real.ts';
import { valueOfExpression } from './evaluate.ts';
import type { Knowledge, Known } from './knowledge.ts';
import { constant, type Linear, single } from './measures.ts';
import { isParallel, isPerpendicular } from './relations.ts';

type Premises = readonly number[] | undefined;

/** @returns undefined where it does not follow; it may hold all the same */
export function holds(statement: Statement, knowledge: Knowledge): Known<true> | undefined {
  const premises =
    statement.kind === 'equality'
      ? equalityHolds(statement, knowledge)
      : relationHolds(statement, knowledge);
  return premises === undefined ? undefined : { value: true, premises };
}

function equalityHolds({ left, right }: Equality, knowledge: Knowledge): Premises {
  const difference = valueOfExpression(
    { kind: 'operation', name: 'subtract', of: [left, right] },
    knowledge,
  );
  if (difference?.value.isZero === true) return difference.premises;
  const quotient = valueOfExpression(
    { kind: 'operation', name: 'divide', of: [left, right] },
    knowledge,
  );
  return quotient?.value.equals(Real.one) === true ? quotient.premises : undefined;
}

/** All of them, or nothing. */
function all(...parts: readonly Premises[]): Premises {
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}

class Checks {
  readonly knowledge: Knowledge;

  constructor(knowledge: Knowledge) {
    this.knowledge = knowledge;
  }

  length(a: Point, b: Point): Linear {
    return single(this.knowledge.measures.length(a, b));
  }

  equal(a: Point, b: Point, c: Point, d: Point): Premises {
    return this.knowledge.equal(this.length(a, b), this.length(c, d));
  }

  right(a: Point, b: Point, c: Point): Premises {
    return this.angle(a, b, c, 90);
  }

  angle(a: Point, b: Point, c: Point, degrees: number): Premises {
    const angle = this.knowledge.measures.angle(a, b, c);
    return this.knowledge.equal(angle, constant(Real.of(degrees)));
  }

  parallel(a: Point, b: Point, c: Point, d: Point): Premises {
    const step = isParallel(this.knowledge, [a, b], [c, d]);
    return step === undefined ? undefined : [step];
  }

  /** Congruent, or similar: angles equal, sides in one ratio. */
  alike(first: readonly Point[], second: readonly Point[], isCongruent: boolean): Premises {
    const { measures } = this.knowledge;
    const [a, b, c] = first;
    const [d, e, f] = second;
    if (!a || !b || !c || !d || !e || !f) return undefined;
    const angles = [
      this.knowledge.equal(measures.angle(b, a, c), measures.angle(e, d, f)),
      this.knowledge.equal(measures.angle(a, b, c), measures.angle(d, e, f)),
    ];
    if (!isCongruent) return all(...angles);
    return all(this.equal(a, b, d, e), this.equal(b, c, e, f), this.equal(c, a, f, d));
  }
}

type Check = (check: Checks, ...points: readonly Point[]) => Premises;

const parallelogram: Check = (check, a = '', b = '', c = '', d = '') =>
  all(check.parallel(a, b, c, d), check.parallel(b, c, d, a));
const rhombus: Check = (check, a = '', b = '', c = '', d = '') =>
  all(check.equal(a, b, b, c), check.equal(b, c, c, d), check.equal(c, d, d, a));
const rectangle: Check = (check, a = '', b = '', c = '', d = '') =>
  all(check.right(a, b, c), check.right(b, c, d), check.right(c, d, a));
const isosceles: Check = (check, a = '', b = '', c = '') => check.equal(a, b, a, c);

const checks: Partial<Record<RelationName, Check>> = {
  ParallelBetweenLine: (check, a = '', b = '', c = '', d = '') => check.parallel(a, b, c, d),
  PerpendicularBetweenLine: ({ knowledge }, a = '', b = '', c = '', d = '') =>
    isPerpendicular(knowledge, [a, b], [c, d])?.premises,
  RightTriangle: (check, a = '', b = '', c = '') => check.right(a, b, c),
  IsoscelesTriangle: isosceles,
  IsoscelesRightTriangle: (check, a = '', b = '', c = '') =>
    all(isosceles(check, a, b, c), check.right(b, a, c)),
  EquilateralTriangle: (check, a = '', b = '', c = '') =>
    all(isosceles(check, a, b, c), check.equal(a, b, b, c)),
  Kite: (check, a = '', b = '', c = '', d = '') =>
    all(check.equal(a, b, a, d), check.equal(c, b, c, d)),
  Parallelogram: parallelogram,
  Rhombus: rhombus,
  Rectangle: rectangle,
  Square: (check, ...corners) => all(rhombus(check, ...corners), rectangle(check, ...corners)),
  Trapezoid: (check, a = '', b = '', c = '', d = '') => check.parallel(a, d, b, c),
  IsMidpointOfLine: (check, m = '', a = '', b = '') =>
    check.knowledge.figure.isBetween(m, a, b) ? check.equal(a, m, m, b) : undefined,
  IsBisectorOfAngle: ({ knowledge }, p = '', q = '', a = '', b = '', c = '') => {
    const inner = p === b ? q : p;
    const { measures } = knowledge;
    return knowledge.equal(measures.angle(a, b, inner), measures.angle(inner, b, c));
  },
  CongruentBetweenTriangle: (check, ...points) =>
    check.alike(points.slice(0, 3), points.slice(3), true),
  SimilarBetweenTriangle: (check, ...points) =>
    check.alike(points.slice(0, 3), points.slice(3), false),
  MirrorCongruentBetweenTriangle: (check, a = '', b = '', c = '', d = '', e = '', f = '') =>
    check.alike([a, b, c], [d, f, e], true),
  MirrorSimilarBetweenTriangle: (check, a = '', b = '', c = '', d = '', e = '', f = '') =>
    check.alike([a, b, c], [d, f, e], false),
};

function relationHolds({ name, groups }: Relation, knowledge: Knowledge): Premises {
  return checks[name]?.(new Checks(knowledge), ...groups.flat());
}
