/** Whether two mathematical answers say the same. */
import type { Budget } from './evaluate.ts';
import { contains, type Expression, mapChildren } from './expression.ts';
import { defaultPrecision, type Precision } from './precision.ts';
import { areEqualSets, realSetOf } from './real-sets.ts';
import { resolveRelations } from './relations.ts';
import { areEqualScalars } from './scalars.ts';
import { parseUnit } from './units.ts';

/** Parts of expressions that one comparison may evaluate; some tens of milliseconds. */
const evaluationBudget = 30_000;
const comparisonCost = 20;

/** Whether two expressions are equivalent; `expected` decides how `answer` is read. */
export function areEquivalent(
  answer: Expression,
  expected: Expression,
  precision: Precision = defaultPrecision,
): boolean {
  return compare(answer, expected, { left: evaluationBudget, precision });
}

function compare(answer: Expression, expected: Expression, budget: Budget): boolean {
  // Comparing costs work too, which also bounds how deep it goes.
  budget.left -= comparisonCost;
  if (budget.left < 0) return false;
  if (answer.kind === 'measured' || expected.kind === 'measured') {
    return compareMeasured(answer, expected, budget);
  }
  if (answer.kind === 'text' || expected.kind === 'text') return compareText(answer, expected);
  const [a, e] = [expanded(answer), expanded(expected)];
  if (e.kind === 'several' || a.kind === 'several') return compareSeveral(a, e, budget);
  if (a.kind === 'relation' || e.kind === 'relation') {
    const resolved = resolveRelations(a, e, budget);
    if (typeof resolved === 'boolean') return resolved;
    return compare(resolved.answer, resolved.expected, budget);
  }
  if (a.kind === 'matrix' || e.kind === 'matrix') return compareMatrices(a, e, budget);
  if (a.kind === 'bracketed' && e.kind === 'bracketed') return compareBracketed(a, e, budget);
  if (isSet(a) || isSet(e)) return compareSets(a, e, budget);
  if (a.kind === 'bracketed' || e.kind === 'bracketed') return false;
  return compareScalars(a, e, budget);
}

/** Units convert if both are known and of one dimension; a unit on one side alone is dropped. */
function compareMeasured(answer: Expression, expected: Expression, budget: Budget): boolean {
  const [a, e] = [answer, expected].map((one) =>
    one.kind === 'measured' ? { value: one.value, unit: parseUnit(one.unit) } : { value: one },
  );
  if (a === undefined || e === undefined) return false;
  if (a.unit === undefined || e.unit === undefined) return compare(a.value, e.value, budget);
  if (a.unit.dimension !== e.unit.dimension) return false;
  if (a.unit.factor === e.unit.factor) return compare(a.value, e.value, budget);
  const scaled = ({ value, unit }: typeof a): Expression => {
    const factor = unit?.factor ?? 1;
    const number: Expression = { kind: 'number', value: factor, text: '', isDecimal: false };
    return { kind: 'product', factors: [value, number] };
  };
  return compare(scaled(a), scaled(e), budget);
}

function compareText(answer: Expression, expected: Expression): boolean {
  const textOf = (one: Expression): string | undefined => {
    if (one.kind === 'text') return one.text.toLowerCase().replace(/^\((.*)\)$/, '$1');
    if (one.kind === 'symbol') return one.name.toLowerCase();
    if (one.kind === 'set' && one.items.length === 0) return '∅';
    return one.kind === 'constant' && one.name.length === 1 ? one.name : undefined;
  };
  const text = textOf(answer);
  return text !== undefined && text !== '' && text === textOf(expected);
}

/** `a ± b` as the two it stands for. */
function expanded(expression: Expression): Expression {
  if (!contains(expression, ({ kind }) => kind === 'plusMinus')) return expression;
  if (expression.kind === 'several' || expression.kind === 'set') {
    return { kind: expression.kind, items: expression.items.flatMap(bothSigns) };
  }
  return { kind: 'several', items: bothSigns(expression) };
}

function bothSigns(expression: Expression): readonly Expression[] {
  if (!contains(expression, ({ kind }) => kind === 'plusMinus')) return [expression];
  return [true, false].map((isPlus) => withSign(expression, isPlus));
}

function withSign(expression: Expression, isPlus: boolean): Expression {
  const inner = (part: Expression): Expression => withSign(part, isPlus);
  if (expression.kind !== 'plusMinus') return mapChildren(expression, inner);
  const right = inner(expression.right);
  const signed: Expression = isPlus ? right : { kind: 'negate', of: right };
  return { kind: 'sum', terms: [inner(expression.left), signed] };
}

/** Several answers: the same ones in any order. A tuple's may be written without its brackets. */
function compareSeveral(answer: Expression, expected: Expression, budget: Budget): boolean {
  const bracketed = [answer, expected].find(({ kind }) => kind === 'bracketed');
  const [a, e] = [itemsOf(answer), itemsOf(expected)];
  if (a === undefined || e === undefined) {
    const list = answer.kind === 'several' ? answer : expected;
    const other = answer.kind === 'several' ? expected : answer;
    const decimal = list.kind === 'several' ? decimalCommaOf(list.items) : undefined;
    return decimal !== undefined && isRoundedNumber(other) && compare(decimal, other, budget);
  }
  if (bracketed !== undefined) return inOrder(a, e, budget);
  return inAnyOrder(a, e, budget);
}

function itemsOf(expression: Expression): readonly Expression[] | undefined {
  if (expression.kind === 'several' || expression.kind === 'set') return expression.items;
  return expression.kind === 'bracketed' ? expression.items : undefined;
}

/** `2,74` read as two numbers may have been one with a decimal comma. */
function decimalCommaOf(items: readonly Expression[]): Expression | undefined {
  const [whole, part] = items;
  const digits = part?.kind === 'number' && /^\d+$/.test(part.text) ? part.text : undefined;
  const sign = whole?.kind === 'negate' ? '-' : '';
  const first = whole?.kind === 'negate' ? whole.of : whole;
  if (items.length !== 2 || digits === undefined || first?.kind !== 'number') return undefined;
  const text = `${first.text}.${digits}`;
  const number: Expression = { kind: 'number', value: Number(text), text, isDecimal: true };
  return sign === '-' ? { kind: 'negate', of: number } : number;
}

const isRoundedNumber = (expression: Expression): boolean =>
  expression.kind === 'number'
    ? expression.isDecimal
    : expression.kind === 'negate' && isRoundedNumber(expression.of);

function inOrder(a: readonly Expression[], e: readonly Expression[], budget: Budget): boolean {
  return (
    a.length === e.length &&
    a.every((one, index) => {
      const other = e[index];
      return other !== undefined && compare(one, other, budget);
    })
  );
}

function inAnyOrder(a: readonly Expression[], e: readonly Expression[], budget: Budget): boolean {
  const answers = distinct(a, budget);
  const left = [...distinct(e, budget)];
  if (answers.length !== left.length || left.length > 64) return false;
  return answers.every((one) => {
    const found = left.findIndex((other) => compare(one, other, budget));
    if (found >= 0) left.splice(found, 1);
    return found >= 0;
  });
}

function distinct(items: readonly Expression[], budget: Budget): readonly Expression[] {
  const kept: Expression[] = [];
  for (const item of items) {
    if (kept.length > 64 || !kept.some((one) => compare(item, one, budget))) kept.push(item);
  }
  return kept;
}

const isSet = ({ kind }: Expression): boolean =>
  kind === 'set' || kind === 'setOperation' || kind === 'numberSet';

function compareSets(a: Expression, e: Expression, budget: Budget): boolean {
  // (1, 2) may be a tuple; only beside a union or ℝ is it surely an interval.
  const isTuple =
    [a, e].some(({ kind }) => kind === 'set') && [a, e].some(({ kind }) => kind === 'bracketed');
  if (isTuple) return false;
  const [left, right] = [realSetOf(a, budget), realSetOf(e, budget)];
  if (left !== undefined && right !== undefined) return areEqualSets(left, right, budget);
  if (a.kind === 'set' && e.kind === 'set') return inAnyOrder(a.items, e.items, budget);
  if (a.kind === 'numberSet' && e.kind === 'numberSet') return a.name === e.name;
  if (a.kind !== 'setOperation' || e.kind !== 'setOperation' || a.operation !== e.operation) {
    return false;
  }
  const same = compare(a.left, e.left, budget) && compare(a.right, e.right, budget);
  if (same || a.operation === '∖') return same;
  return compare(a.left, e.right, budget) && compare(a.right, e.left, budget);
}

type Bracketed = Extract<Expression, { kind: 'bracketed' }>;

/** As intervals where there are two items, so that (1, 2) is not [1, 2]; as lists otherwise. */
function compareBracketed(a: Bracketed, e: Bracketed, budget: Budget): boolean {
  if (a.items.length === 2 && (a.open !== e.open || a.close !== e.close)) return false;
  return inOrder(a.items, e.items, budget);
}

/** Entry by entry. A vector may be written as a tuple. */
function compareMatrices(a: Expression, e: Expression, budget: Budget): boolean {
  const [left, right] = [rowsOf(a), rowsOf(e)];
  if (left === undefined || right === undefined) return false;
  const isWritten = a.kind === 'bracketed' || e.kind === 'bracketed';
  if (isWritten) {
    const isVector = [left, right].every((rows) => rows.length === 1 || rows[0]?.length === 1);
    return isVector && inOrder(left.flat(), right.flat(), budget);
  }
  return (
    left.length === right.length &&
    left.every((row, index) => inOrder(row, right[index] ?? [], budget))
  );
}

function rowsOf(expression: Expression): readonly (readonly Expression[])[] | undefined {
  if (expression.kind === 'matrix') return expression.rows;
  return expression.kind === 'bracketed' ? [expression.items] : undefined;
}

/** Percent and degrees may be left out, or written as the number they are. */
function compareScalars(a: Expression, e: Expression, budget: Budget): boolean {
  if (areEqualScalars(a, e, budget)) return true;
  const [x, y] = [a, e].map(bareOf);
  if (x === undefined || y === undefined || (x === a) === (y === e)) return false;
  return areEqualScalars(x, y, budget);
}

function bareOf(expression: Expression): Expression {
  if (expression.kind === 'negate') {
    const of = bareOf(expression.of);
    return of === expression.of ? expression : { kind: 'negate', of };
  }
  const isMarked = expression.kind === 'call' && /^(?:percent|degrees)$/.test(expression.name);
  return isMarked ? (expression.args[0] ?? expression) : expression;
}
