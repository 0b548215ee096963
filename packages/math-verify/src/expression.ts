/** A parsed mathematical answer. Numbers are evaluated elsewhere, in float64. */

export type Relation = '=' | '≠' | '<' | '≤' | '>' | '≥' | '∈';
type SetOperation = '∪' | '∩' | '∖';

/**
 * The syntax tree of a mathematical answer. Nothing is simplified in it: `1/2` is a quotient, not
 * 0.5, and `(a, b)` is `bracketed` until the comparison decides between tuple and interval. What
 * is not mathematics is a `text`.
 */
export type Expression =
  /** `isDecimal`: written with a decimal point, so that it may be rounded. */
  | {
      readonly kind: 'number';
      readonly value: number;
      readonly text: string;
      readonly isDecimal: boolean;
    }
  | { readonly kind: 'symbol'; readonly name: string }
  /** π, e, i, ∞ */
  | { readonly kind: 'constant'; readonly name: 'pi' | 'e' | 'i' | 'infinity' }
  | { readonly kind: 'sum'; readonly terms: readonly Expression[] }
  | { readonly kind: 'negate'; readonly of: Expression }
  /** Both signs: first the one with +. */
  | { readonly kind: 'plusMinus'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'product'; readonly factors: readonly Expression[] }
  | { readonly kind: 'quotient'; readonly above: Expression; readonly below: Expression }
  | { readonly kind: 'power'; readonly base: Expression; readonly exponent: Expression }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
  /** Σ or Π over a whole-number index. */
  | {
      readonly kind: 'series';
      readonly operation: 'sum' | 'product';
      readonly index: string;
      readonly from: Expression;
      readonly to: Expression;
      readonly term: Expression;
    }
  /** `(a, b)`, `[a, b)`: a tuple, a list or an interval, by what it is compared with. */
  | {
      readonly kind: 'bracketed';
      readonly open: '(' | '[';
      readonly close: ')' | ']';
      readonly items: readonly Expression[];
    }
  | { readonly kind: 'set'; readonly items: readonly Expression[] }
  /** ℝ and its like, by letter. */
  | { readonly kind: 'numberSet'; readonly name: string }
  | {
      readonly kind: 'setOperation';
      readonly operation: SetOperation;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'matrix'; readonly rows: readonly (readonly Expression[])[] }
  | {
      readonly kind: 'relation';
      readonly relations: readonly Relation[];
      /** One more than relations. */
      readonly sides: readonly Expression[];
    }
  /** Several answers without brackets: `1, 2` or `x = 1 or x = 2`. */
  | { readonly kind: 'several'; readonly items: readonly Expression[] }
  /** A number with what it counts or measures. */
  | { readonly kind: 'measured'; readonly value: Expression; readonly unit: string }
  /** Words. */
  | { readonly kind: 'text'; readonly text: string };

/** The parts of an expression, in order. */
function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'sum':
      return expression.terms;
    case 'product':
      return expression.factors;
    case 'negate':
      return [expression.of];
    case 'plusMinus':
    case 'setOperation':
      return [expression.left, expression.right];
    case 'quotient':
      return [expression.above, expression.below];
    case 'power':
      return [expression.base, expression.exponent];
    case 'call':
      return expression.args;
    case 'series':
      return [expression.from, expression.to, expression.term];
    case 'bracketed':
    case 'set':
    case 'several':
      return expression.items;
    case 'matrix':
      return expression.rows.flat();
    case 'relation':
      return expression.sides;
    case 'measured':
      return [expression.value];
    default:
      return [];
  }
}

/** The same expression with each of its parts replaced. */
export function mapChildren(
  expression: Expression,
  replace: (part: Expression) => Expression,
): Expression {
  switch (expression.kind) {
    case 'sum':
      return { ...expression, terms: expression.terms.map(replace) };
    case 'product':
      return { ...expression, factors: expression.factors.map(replace) };
    case 'negate':
      return { ...expression, of: replace(expression.of) };
    case 'plusMinus':
    case 'setOperation':
      return { ...expression, left: replace(expression.left), right: replace(expression.right) };
    case 'quotient':
      return { ...expression, above: replace(expression.above), below: replace(expression.below) };
    case 'power': {
      const { base, exponent } = expression;
      return { ...expression, base: replace(base), exponent: replace(exponent) };
    }
    case 'call':
      return { ...expression, args: expression.args.map(replace) };
    case 'series': {
      const { from, to, term } = expression;
      return { ...expression, from: replace(from), to: replace(to), term: replace(term) };
    }
    case 'bracketed':
    case 'set':
    case 'several':
      return { ...expression, items: expression.items.map(replace) };
    case 'matrix':
      return { ...expression, rows: expression.rows.map((row) => row.map(replace)) };
    case 'relation':
      return { ...expression, sides: expression.sides.map(replace) };
    case 'measured':
      return { ...expression, value: replace(expression.value) };
    default:
      return expression;
  }
}

/** Whether `test` holds anywhere in an expression. */
export function contains(expression: Expression, test: (part: Expression) => boolean): boolean {
  return test(expression) || childrenOf(expression).some((child) => contains(child, test));
}

/** Names of the free symbols, sorted. */
export function symbolsOf(...expressions: readonly Expression[]): readonly string[] {
  const names = new Set<string>();
  const visit = (expression: Expression, bound: ReadonlySet<string>): void => {
    if (expression.kind === 'symbol' && !bound.has(expression.name)) names.add(expression.name);
    const inner = expression.kind === 'series' ? new Set([...bound, expression.index]) : bound;
    for (const child of childrenOf(expression)) visit(child, inner);
  };
  for (const expression of expressions) visit(expression, new Set());
  return [...names].sort();
}
