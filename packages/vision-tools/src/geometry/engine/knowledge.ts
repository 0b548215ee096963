/** Known facts of a figure: sums, ratios, polynomial equations, relations, each with its reason. */
import { Fraction } from 'fraction.js';
import { Elimination, type Inserted } from '../algebra/elimination.ts';
import { addPolynomials, monomial, type Polynomial, type Powers } from '../algebra/polynomial.ts';
import { type Product, productKey, productOf, products, realOf } from '../algebra/products.ts';
import type { Point } from '../cdl/statement.ts';
import type { Figure } from '../figure/figure.ts';
import { Real } from '../numbers/real.ts';
import { type Linear, Measures, single, sum } from './measures.ts';
import { writeLinear, writePolynomial, writeRatio } from './write-equations.ts';

/** The content of a step. */
export type Said =
  | { readonly kind: 'sum'; readonly linear: Linear }
  | { readonly kind: 'ratio'; readonly powers: Powers; readonly constant: Real }
  | { readonly kind: 'polynomial'; readonly polynomial: Polynomial }
  | {
      readonly kind: 'fact';
      readonly name: string;
      readonly groups: readonly (readonly Point[])[];
    };

/** One thing that became known. */
export interface Step {
  readonly id: number;
  readonly said: Said;
  /** As a person writes it. */
  readonly text: string;
  /** The theorem or definition, or `given`. */
  readonly reason: string;
  /** Steps that it was derived from. */
  readonly premises: readonly number[];
}

/** A value with the steps that it follows from. */
export interface Known<Value> {
  readonly value: Value;
  readonly premises: readonly number[];
}

/** Two things that were derived cannot both hold: the statements contradict one another. */
export interface Contradiction {
  readonly text: string;
  readonly step: number;
}

/** An angle of less is no angle of a figure: its points would lie on one line. */
const tiny = 1e-9;

const reals = {
  zero: Real.zero,
  add: (a: Real, b: Real) => a.add(b),
  scale: (a: Real, by: Fraction) => a.scale(by),
  // Decimals that were rounded by hand contradict nothing.
  isZero: (a: Real) => a.isZero || (a.exact === undefined && Math.abs(a.approx) < 1e-6),
};

export class Knowledge {
  readonly figure: Figure;
  readonly measures: Measures;
  readonly steps: Step[] = [];
  /** Equations that are not used up yet. */
  readonly equations = new Map<number, Polynomial>();
  contradiction: Contradiction | undefined;
  private readonly sums: Elimination<Real>;
  private readonly ratios: Elimination<Product> = new Elimination(products);
  private readonly facts = new Map<string, number>();
  private readonly polynomialKeys = new Set<string>();
  private sumCache = new Map<string, Known<Linear>>();
  private cachedVersion = -1;

  constructor(figure: Figure) {
    this.figure = figure;
    this.measures = new Measures(figure);
    // Letters stay free, so that measures are expressed by them.
    this.sums = new Elimination(reals, (id) => (this.measures.get(id).domain === 'any' ? 1 : 0));
  }

  /** Counts what became known. */
  get version(): number {
    return this.steps.length;
  }

  /** Takes in that a combination is zero. */
  addSum(linear: Linear, reason: string, premises: readonly number[] = []): boolean {
    const id = this.steps.length;
    const text = writeLinear(linear, this.measures);
    return this.settle(this.sums.insert(linear, id), {
      id,
      said: { kind: 'sum', linear },
      text,
      reason,
      premises,
    });
  }

  /** Takes in that Π unknown^exponent = constant; all are positive. */
  addRatio(
    powers: Powers,
    constant: Real,
    reason: string,
    premises: readonly number[] = [],
  ): boolean {
    const id = this.steps.length;
    const terms = new Map<number, Fraction>();
    for (const [unknown, exponent] of powers) {
      const total = new Fraction(exponent).add(terms.get(unknown) ?? 0);
      if (total.n === 0n) terms.delete(unknown);
      else terms.set(unknown, total);
    }
    const rest = products.scale(productOf(constant), new Fraction(-1));
    return this.settle(this.ratios.insert({ terms, constant: rest }, id), {
      id,
      said: { kind: 'ratio', powers, constant },
      text: writeRatio(powers, constant, this.measures),
      reason,
      premises,
    });
  }

  /** Takes in that a polynomial is zero. */
  addPolynomial(polynomial: Polynomial, reason: string, premises: readonly number[] = []): boolean {
    const key = [...polynomial].map(([powers, { coefficient }]) => `${powers}:${coefficient}`);
    const sorted = key.sort().join(' ');
    if (polynomial.size === 0 || this.polynomialKeys.has(sorted)) return false;
    this.polynomialKeys.add(sorted);
    const id = this.steps.length;
    this.equations.set(id, polynomial);
    const text = writePolynomial(polynomial, this.measures);
    this.steps.push({ id, said: { kind: 'polynomial', polynomial }, text, reason, premises });
    return true;
  }

  /** Takes in a·b = c·d as an equation of products. */
  addProportion(
    [a, b]: readonly [number, number],
    [c, d]: readonly [number, number],
    reason: string,
    premises: readonly number[],
  ): boolean {
    const difference = addPolynomials(monomial(1, [a, 1], [b, 1]), monomial(-1, [c, 1], [d, 1]));
    return this.addPolynomial(difference, reason, premises);
  }

  /** Takes in a relation that no equation says, such as that lines are parallel. */
  addFact(
    name: string,
    groups: readonly (readonly Point[])[],
    text: string,
    reason: string,
    premises: readonly number[] = [],
  ): boolean {
    const key = factKey(name, groups);
    if (this.facts.has(key)) return false;
    const id = this.steps.length;
    this.facts.set(key, id);
    this.steps.push({ id, said: { kind: 'fact', name, groups }, text, reason, premises });
    return true;
  }

  /** The step that says so, if one does. */
  fact(name: string, groups: readonly (readonly Point[])[]): number | undefined {
    return this.facts.get(factKey(name, groups));
  }

  /** All relations of that name, with their steps. */
  factsOf(name: string): readonly (Step & { readonly said: Extract<Said, { kind: 'fact' }> })[] {
    return this.steps.filter(
      (step): step is Step & { readonly said: Extract<Said, { kind: 'fact' }> } =>
        step.said.kind === 'fact' && step.said.name === name,
    );
  }

  private settle(inserted: Inserted, step: Step): boolean {
    if (inserted === 'known') return false;
    this.steps.push(step);
    if (inserted === 'contradiction') {
      this.contradiction ??= { text: step.text, step: step.id };
      return false;
    }
    return true;
  }

  /** A combination in terms of free unknowns. */
  reduced(linear: Linear): Known<Linear> {
    const [only, ...rest] = linear.terms;
    if (only === undefined) return { value: linear, premises: [] };
    if (rest.length > 0 || !linear.constant.isZero) return this.reduceNow(linear);
    if (this.cachedVersion !== this.sums.version) {
      this.sumCache = new Map();
      this.cachedVersion = this.sums.version;
    }
    const key = `${only[0]} ${only[1].toFraction()}`;
    const cached = this.sumCache.get(key) ?? this.reduceNow(linear);
    this.sumCache.set(key, cached);
    return cached;
  }

  private reduceNow(linear: Linear): Known<Linear> {
    const { from, ...value } = this.sums.reduce(linear);
    return { value, premises: [...from.keys()] };
  }

  /** The value of a combination, if it is known. */
  value(linear: Linear): Known<Real> | undefined {
    const { value, premises } = this.reduced(linear);
    return value.terms.size === 0 ? { value: value.constant, premises } : undefined;
  }

  valueOf(id: number): Known<Real> | undefined {
    return this.value(single(id));
  }

  /** The steps from which it follows that both are equal, if it does. */
  equal(a: Linear, b: Linear): readonly number[] | undefined {
    const { value, premises } = this.reduceNow(sum([a, 1], [b, -1]));
    return value.terms.size === 0 && value.constant.isZero ? premises : undefined;
  }

  /** The constant that Π unknown^exponent is, if it is known. */
  ratio(powers: Powers): Known<Real> | undefined {
    const { terms, constant, from } = this.reduceRatio(powers);
    if (terms.size > 0) return undefined;
    return { value: realOf(constant), premises: [...from.keys()] };
  }

  /** An unknown as a multiple of another one that its ratios lead to. */
  multipleOf(id: number): (Known<Real> & { readonly base: number }) | undefined {
    const { terms, constant, from } = this.reduceRatio([[id, 1]]);
    const [only, ...rest] = terms;
    if (only === undefined || rest.length > 0 || !only[1].equals(1)) return undefined;
    return { base: only[0], value: realOf(constant), premises: [...from.keys()] };
  }

  private reduceRatio(powers: Powers): ReturnType<Elimination<Product>['reduce']> {
    const terms = new Map<number, Fraction>();
    for (const [unknown, exponent] of powers) {
      const total = new Fraction(exponent).add(terms.get(unknown) ?? 0);
      if (total.n === 0n) terms.delete(unknown);
      else terms.set(unknown, total);
    }
    return this.ratios.reduce({ terms, constant: products.zero });
  }

  /** Equal for products of unknowns that are known to be equal. */
  ratioKey(powers: Powers): string {
    const { terms, constant } = this.reduceRatio(powers);
    return `${termsKey(terms)} ${productKey(constant)}`;
  }

  /** Equal for combinations that are known to be equal. */
  sumKey(linear: Linear): string {
    const { terms, constant } = this.reduced(linear).value;
    return `${termsKey(terms)} ${realKey(constant)}`;
  }

  /** An unknown in terms of others, as a polynomial. */
  form(id: number): Known<Polynomial> {
    const { value, premises } = this.reduced(single(id));
    const parts: Polynomial[] = [monomial(value.constant)];
    const all = [...premises];
    for (const [free, factor] of value.terms) {
      const multiple = this.multipleOf(free);
      // The ratios may lead to an unknown that the sums express by another one.
      const base = multiple && this.reduced(single(multiple.base));
      if (multiple === undefined || base === undefined) {
        parts.push(monomial(Real.of(factor), [free, 1]));
        continue;
      }
      const scale = multiple.value.scale(factor);
      parts.push(monomial(base.value.constant.multiply(scale)));
      for (const [id, coefficient] of base.value.terms) {
        parts.push(monomial(scale.scale(coefficient), [id, 1]));
      }
      all.push(...multiple.premises, ...base.premises);
    }
    return { value: addPolynomials(...parts), premises: all };
  }

  /** Whether a value of one unknown leaves every length positive and every angle below 180°. */
  isAdmissible(unknown: number, value: Real): boolean {
    for (const { id, domain } of this.measures.unknowns) {
      if (domain === 'any') continue;
      const { terms, constant } = this.reduced(single(id)).value;
      const factor = terms.get(unknown);
      if (factor === undefined || terms.size > 1) continue;
      const there = value.scale(factor).add(constant).approx;
      const most = domain === 'angle' ? 180 : domain === 'arc' ? 360 : Number.POSITIVE_INFINITY;
      if (there < tiny || there > most - tiny) return false;
    }
    return true;
  }
}

function factKey(name: string, groups: readonly (readonly Point[])[]): string {
  return `${name} ${groups.map((group) => group.join(' ')).join(', ')}`;
}

function termsKey(terms: ReadonlyMap<number, Fraction>): string {
  return [...terms]
    .sort(([a], [b]) => a - b)
    .map(([id, factor]) => `${id}*${factor.toFraction()}`)
    .join('+');
}

function realKey(value: Real): string {
  return value.exact === undefined ? value.approx.toPrecision(10) : `${value}`;
}
