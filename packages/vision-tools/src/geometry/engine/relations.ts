/** Parallel and perpendicular lines: how they are kept, said and found. */
import type { Point } from '../cdl/statement.ts';
import type { Figure } from '../figure/figure.ts';
import { Real } from '../numbers/real.ts';
import type { Knowledge, Known } from './knowledge.ts';

export type Pair = readonly [Point, Point];

/** The two points that stand for the line through a pair: the first ones in the alphabet. */
function lineName(figure: Figure, [a, b]: Pair): Pair {
  const all = [...(figure.lineThrough(a, b)?.points ?? [a, b])].sort();
  return [all[0] ?? a, all[1] ?? b];
}

/** Takes in that two lines are parallel. */
export function addParallel(
  knowledge: Knowledge,
  first: Pair,
  second: Pair,
  reason: string,
  premises: readonly number[],
): boolean {
  const [a, b] = [lineName(knowledge.figure, first), lineName(knowledge.figure, second)];
  if (a.join() === b.join()) return false;
  const groups = a.join() < b.join() ? [a, b] : [b, a];
  const text = `${first.join('')} ∥ ${second.join('')}`;
  return knowledge.addFact('parallel', groups, text, reason, premises);
}

/** The step that says that two lines are parallel, if one does. */
export function isParallel(knowledge: Knowledge, first: Pair, second: Pair): number | undefined {
  const [a, b] = [lineName(knowledge.figure, first), lineName(knowledge.figure, second)];
  return knowledge.fact('parallel', a.join() < b.join() ? [a, b] : [b, a]);
}

/**
 * Takes in that two lines are perpendicular: as an angle where they meet, if that point has a name, and
 * otherwise as a relation.
 */
export function addPerpendicular(
  knowledge: Knowledge,
  first: Pair,
  second: Pair,
  reason: string,
): void {
  const { figure } = knowledge;
  const vertex = figure.meeting(...first, ...second);
  const [a, b] = [vertex && other(first, vertex), vertex && other(second, vertex)];
  if (vertex !== undefined && a !== undefined && b !== undefined) {
    const angle = knowledge.measures.angle(a, vertex, b);
    const constant = angle.constant.subtract(Real.of(90));
    knowledge.addSum({ terms: angle.terms, constant }, reason);
    return;
  }
  const [one, two] = [lineName(figure, first), lineName(figure, second)];
  const groups = one.join() < two.join() ? [one, two] : [two, one];
  const text = `${first.join('')} ⊥ ${second.join('')}`;
  knowledge.addFact('perpendicular', groups, text, reason);
}

/** The point of a pair that is not the vertex. */
function other([a, b]: Pair, vertex: Point): Point {
  return a === vertex ? b : a;
}

/** Whether two lines are known to be perpendicular, and from what. */
export function isPerpendicular(
  knowledge: Knowledge,
  first: Pair,
  second: Pair,
): Known<true> | undefined {
  const vertex = knowledge.figure.meeting(...first, ...second);
  if (vertex === undefined) {
    const [one, two] = [lineName(knowledge.figure, first), lineName(knowledge.figure, second)];
    const step = knowledge.fact('perpendicular', one.join() < two.join() ? [one, two] : [two, one]);
    return step === undefined ? undefined : { value: true, premises: [step] };
  }
  const known = knowledge.value(
    knowledge.measures.angle(other(first, vertex), vertex, other(second, vertex)),
  );
  return known?.value.equals(Real.of(90)) === true
    ? { value: true, premises: known.premises }
    : undefined;
}
