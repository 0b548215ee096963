/** Equations and inequalities: which value they state, and whether two of them say the same. */
import { isFiniteNumber, isReal, magnitude, multiply, subtract } from './complex.ts';
import { type Budget, evaluate } from './evaluate.ts';
import { type Expression, type Relation, symbolsOf } from './expression.ts';
import { areEqualSets, realSetOf, solvedSetOf } from './real-sets.ts';
import { areClose, areEqualScalars, constantOf, probePoints } from './scalars.ts';

type RelationExpression = Extract<Expression, { kind: 'relation' }>;

/** A decision, or what is left to compare. */
export type Resolved = boolean | { readonly answer: Expression; readonly expected: Expression };

/**
 * Compares two expressions, at least one of which is a relation.
 *
 * `x = 5` is also 5, and a chain such as `2 + 3 = 5` is its last side, where the constants in it
 * agree: an answer cannot name several values. A solved inequality is also the interval it
 * describes; one that is not solved is not, or the question would be its own answer.
 */
export function resolveRelations(a: Expression, e: Expression, budget: Budget): Resolved {
  const [setA, setE] = [memberSetOf(a), memberSetOf(e)];
  if (setA !== a || setE !== e) return { answer: setA, expected: setE };
  const [solvedA, solvedE] = [a, e].map(
    (one) => solvedSetOf(one, budget) ?? realSetOf(one, budget),
  );
  if (solvedA !== undefined && solvedE !== undefined) {
    const names = [a, e].map((one) => (one.kind === 'relation' ? symbolsOf(one).join() : ''));
    const isSameName = names.includes('') || names[0] === names[1];
    return isSameName && areEqualSets(solvedA, solvedE, budget);
  }
  if (a.kind === 'relation' && e.kind === 'relation') return compareBoth(a, e, budget);
  // An equation that is asked for is not its right side: 0 is not an answer to x + y = 0.
  if (e.kind === 'relation' && !isDefinition(e)) return false;
  const stated = a.kind === 'relation' ? statedBy(a, budget) : statedBy(e, budget);
  if (stated === undefined) return false;
  return a.kind === 'relation' ? { answer: stated, expected: e } : { answer: a, expected: stated };
}

/** `x = …`, `f(x) = …`, `(x, y) = …`, or constants alone. */
function isDefinition({ sides }: RelationExpression): boolean {
  const isName = (side: Expression): boolean =>
    side.kind === 'symbol' ||
    (side.kind === 'product' &&
      side.factors.length === 2 &&
      side.factors.every(({ kind }) => kind === 'symbol')) ||
    (side.kind === 'bracketed' && side.items.every(isName));
  return sides.some(isName) || symbolsOf(...sides).length === 0;
}

/** The set of `x ∈ S`, else the expression itself. */
function memberSetOf(expression: Expression): Expression {
  if (expression.kind !== 'relation' || expression.relations.join() !== '∈') return expression;
  return expression.sides[1] ?? expression;
}

/** The value that a chain of equations states; undefined for other relations. */
function statedBy(expression: Expression, budget: Budget): Expression | undefined {
  if (expression.kind !== 'relation') return undefined;
  const { relations, sides } = expression;
  if (!relations.every((relation) => relation === '=')) return undefined;
  const constants = sides.filter((side) => constantOf(side, budget) !== undefined);
  const [first] = constants;
  const doAgree = constants.every((side) => first && areEqualScalars(side, first, budget));
  if (!doAgree) return undefined;
  const last = sides.at(-1);
  const isNamedLast = last?.kind === 'symbol' && sides[0]?.kind !== 'symbol';
  return isNamedLast ? sides[0] : last;
}

/** The name and value of `x = 5` or `f(x) = …`. */
function assignmentOf(
  expression: RelationExpression,
): { name: string; value: Expression } | undefined {
  const [left, right] = expression.sides;
  if (expression.relations.join() !== '=' || left === undefined || right === undefined) {
    return undefined;
  }
  if (left.kind === 'symbol') return { name: left.name, value: right };
  return right.kind === 'symbol' ? { name: right.name, value: left } : undefined;
}

function compareBoth(a: RelationExpression, e: RelationExpression, budget: Budget): Resolved {
  const [left, right] = [assignmentOf(a), assignmentOf(e)];
  if (left !== undefined && right !== undefined && left.name === right.name) {
    const isExplicit = [left, right].every(({ name, value }) => !symbolsOf(value).includes(name));
    if (isExplicit) return { answer: left.value, expected: right.value };
  }
  if (e.relations.length > 1 && e.relations.every((relation) => relation === '=')) {
    return sameChain(a, e, budget);
  }
  if (a.relations.length > 1 && e.relations.length === 1) return sameAsLastOf(a, e, budget);
  if (a.relations.length !== e.relations.length) return false;
  return sameChain(a, e, budget) || sameChain(reversed(a), e, budget);
}

/** Side by side: 1 < x < 2, not solved for one symbol. */
function sameChain(a: RelationExpression, e: RelationExpression, budget: Budget): boolean {
  if (a.relations.length !== e.relations.length) return false;
  return e.relations.every((_, index) => {
    const [one, other] = [linkOf(a, index), linkOf(e, index)];
    return one !== undefined && other !== undefined && sameRelation(one, other, budget);
  });
}

/** `y = 2(x + 1) = 2x + 2` for `y = 2x + 2`. */
function sameAsLastOf(a: RelationExpression, e: RelationExpression, budget: Budget): boolean {
  const [first, last] = [a.sides[0], a.sides.at(-1)];
  const isEquation = a.relations.every((relation) => relation === '=');
  if (!isEquation || first === undefined || last === undefined) return false;
  const link: RelationExpression = { kind: 'relation', relations: ['='], sides: [first, last] };
  return sameRelation(link, e, budget);
}

function linkOf(chain: RelationExpression, index: number): RelationExpression | undefined {
  const [left, right] = [chain.sides[index], chain.sides[index + 1]];
  const relation = chain.relations[index];
  if (left === undefined || right === undefined || relation === undefined) return undefined;
  return { kind: 'relation', relations: [relation], sides: [left, right] };
}

const flips: Readonly<Record<Relation, Relation>> = {
  '=': '=',
  '≠': '≠',
  '<': '>',
  '>': '<',
  '≤': '≥',
  '≥': '≤',
  '∈': '∈',
};

function reversed(chain: RelationExpression): RelationExpression {
  return {
    kind: 'relation',
    relations: chain.relations.map((relation) => flips[relation]).reverse(),
    sides: [...chain.sides].reverse(),
  };
}

/**
 * Whether two single relations say the same: with everything on the left side,
 *
 *   f ~ 0 and g ~ 0 with f = c · g,   c ≠ 0 a constant, of the sign that the directions ask for.
 */
function sameRelation(a: RelationExpression, e: RelationExpression, budget: Budget): boolean {
  const [p, q] = [a.relations[0], e.relations[0]];
  if (p === undefined || q === undefined) return false;
  const sign = p === q ? 1 : flips[p] === q ? -1 : 0;
  if (sign === 0) return false;
  const names = symbolsOf(a, e);
  if (names.length === 0 || names.length > 12) {
    return a.sides.every((side, index) => {
      const other = (sign < 0 ? [...e.sides].reverse() : e.sides)[index];
      return other !== undefined && areEqualScalars(side, other, budget);
    });
  }
  const { exactTolerance, neededProbes } = budget.precision;
  const pairs = probePoints(names, budget)
    .map((point) => [a, e].map((one) => one.sides.map((side) => evaluate(side, point, budget))))
    .map(([f = [], g = []]) => [f, g].map(([x, y]) => (x && y ? subtract(x, y) : undefined)))
    .filter(([f, g]) => f && g && isFiniteNumber(f) && isFiniteNumber(g) && isReal(f) && isReal(g));
  const [first] = pairs;
  const [f, g] = first ?? [];
  if (pairs.length < neededProbes || !f || !g || magnitude(f) === 0 || magnitude(g) === 0)
    return false;
  const isOrdered = p !== '=' && p !== '≠';
  if (isOrdered && Math.sign(f.re) * Math.sign(g.re) !== sign) return false;
  // The tolerance for products of two values each.
  const tolerance = 10 * exactTolerance;
  return pairs.every(([x, y]) => x && y && areClose(multiply(x, g), multiply(y, f), tolerance));
}
