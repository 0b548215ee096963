/** Solves the polynomial equations of a figure as far as they go: substitution, elimination, roots. */
import {
  addPolynomials,
  coefficientsIn,
  degreeOf,
  type Monomial,
  type Polynomial,
  type Powers,
  rootsOf,
  scalePolynomial,
  substitute,
  unknownsOf,
} from '../algebra/polynomial.ts';
import { Real } from '../numbers/real.ts';
import type { Knowledge } from './knowledge.ts';
import { single } from './measures.ts';

/** Longer equations are left until more is known. */
const maxMonomials = 24;
const maxUnknowns = 4;
const maxDegree = 4;

interface Equation {
  readonly polynomial: Polynomial;
  readonly premises: ReadonlySet<number>;
}

/** @returns whether anything became known */
export function solveEquations(knowledge: Knowledge, isOver: () => boolean): boolean {
  const before = knowledge.version;
  const left: Equation[] = [];
  for (const [id, polynomial] of knowledge.equations) {
    if (isOver()) break;
    const equation = reduce(knowledge, id, polynomial);
    if (equation === undefined) continue;
    if (equation.polynomial.size === 0) knowledge.equations.delete(id);
    else if (use(knowledge, equation)) knowledge.equations.delete(id);
    else left.push(equation);
  }
  for (const equation of eliminate(left, isOver)) use(knowledge, equation);
  return knowledge.version > before;
}

/** An equation with what is known put in; `undefined` if it is too long for now. */
function reduce(knowledge: Knowledge, id: number, given: Polynomial): Equation | undefined {
  const premises = new Set([id]);
  const polynomial = substitute(
    given,
    (unknown) => {
      const form = knowledge.form(unknown);
      for (const premise of form.premises) premises.add(premise);
      return form.value;
    },
    maxMonomials,
  );
  if (polynomial === undefined || unknownsOf(polynomial).size > maxUnknowns) return undefined;
  const isHigh = [...polynomial.values()].some(({ powers }) => degreeOf(powers) > maxDegree);
  return isHigh ? undefined : { polynomial, premises };
}

/** Takes from an equation what it says alone. */
function use(knowledge: Knowledge, { polynomial, premises }: Equation): boolean {
  const unknowns = [...unknownsOf(polynomial)];
  const [only] = unknowns;
  if (only === undefined) return false;
  if (unknowns.length === 1) return useOne(knowledge, polynomial, only, [...premises]);
  return (
    useLinear(knowledge, polynomial, [...premises]) ||
    useRatio(knowledge, polynomial, [...premises])
  );
}

/** An equation in one unknown is used if it has one root that a figure can have. */
function useOne(
  knowledge: Knowledge,
  polynomial: Polynomial,
  unknown: number,
  premises: readonly number[],
): boolean {
  const roots = rootsOf(coefficientsIn(polynomial, unknown));
  if (roots === undefined) return false;
  const fitting = roots.filter((root) => knowledge.isAdmissible(unknown, root));
  const [root, other] = fitting;
  if (root === undefined || other !== undefined) return false;
  const { terms } = single(unknown);
  knowledge.addSum({ terms, constant: root.negate() }, 'solving the equation', premises);
  return true;
}

function useLinear(
  knowledge: Knowledge,
  polynomial: Polynomial,
  premises: readonly number[],
): boolean {
  const terms = new Map();
  let constant = Real.zero;
  let scale: Real | undefined;
  for (const { powers, coefficient } of polynomial.values()) {
    const [first, ...rest] = powers;
    if (first === undefined) {
      constant = coefficient;
      continue;
    }
    scale ??= coefficient;
    const factor = coefficient.divide(scale).rational;
    if (rest.length > 0 || first[1] !== 1 || factor === undefined) return false;
    terms.set(first[0], factor);
  }
  if (scale === undefined) return false;
  knowledge.addSum({ terms, constant: constant.divide(scale) }, 'algebra', premises);
  return true;
}

/** Two terms of positive unknowns: a·x² = b·y·z. */
function useRatio(
  knowledge: Knowledge,
  polynomial: Polynomial,
  premises: readonly number[],
): boolean {
  const [first, second, ...rest] = polynomial.values();
  if (first === undefined || second === undefined || rest.length > 0) return false;
  const all = [...first.powers, ...second.powers];
  if (all.some(([id]) => knowledge.measures.get(id).domain !== 'positive')) return false;
  const constant = second.coefficient.negate().divide(first.coefficient);
  if (constant.approx <= 0) return false;
  const powers: Powers = [
    ...first.powers,
    ...second.powers.map(([id, exponent]) => [id, -exponent] as const),
  ];
  knowledge.addRatio(powers, constant, 'algebra', premises);
  return true;
}

/** Eliminates the highest terms of equations that share them, as if every product were an unknown. */
function eliminate(equations: readonly Equation[], isOver: () => boolean): readonly Equation[] {
  const rows: { readonly lead: string; readonly equation: Equation }[] = [];
  for (const equation of equations.slice(0, 60)) {
    if (isOver()) break;
    let rest = equation;
    for (const row of rows) rest = reduceBy(rest, row.lead, row.equation);
    const lead = leadOf(rest.polynomial);
    if (lead === undefined || rest.polynomial.size > maxMonomials) continue;
    for (const [index, row] of rows.entries()) {
      rows[index] = { lead: row.lead, equation: reduceBy(row.equation, lead, rest) };
    }
    rows.push({ lead, equation: rest });
  }
  return rows.map(({ equation }) => equation).filter(({ premises }) => premises.size > 1);
}

function reduceBy(equation: Equation, lead: string, by: Equation): Equation {
  const own = equation.polynomial.get(lead);
  const other = by.polynomial.get(lead);
  if (own === undefined || other === undefined || equation === by) return equation;
  const factor = own.coefficient.divide(other.coefficient).negate();
  const polynomial = addPolynomials(equation.polynomial, scalePolynomial(by.polynomial, factor));
  if (!polynomial.has(lead)) {
    return { polynomial, premises: new Set([...equation.premises, ...by.premises]) };
  }
  // Floats may leave a trace of what they should have cancelled.
  const cleaned = new Map(polynomial);
  cleaned.delete(lead);
  return { polynomial: cleaned, premises: new Set([...equation.premises, ...by.premises]) };
}

/** The key of the highest term: of the largest degree, then with the most even exponents. */
function leadOf(polynomial: Polynomial): string | undefined {
  let best: readonly [string, Monomial] | undefined;
  for (const entry of polynomial) {
    if (best === undefined || compare(entry, best) > 0) best = entry;
  }
  return best !== undefined && degreeOf(best[1].powers) > 0 ? best[0] : undefined;
}

function compare(a: readonly [string, Monomial], b: readonly [string, Monomial]): number {
  const degrees = degreeOf(a[1].powers) - degreeOf(b[1].powers);
  if (degrees !== 0) return degrees;
  const squares = a[1].powers.length - b[1].powers.length;
  // Pure powers first: h² goes before x·y.
  return squares !== 0 ? -squares : a[0] < b[0] ? 1 : -1;
}
