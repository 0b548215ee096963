/** Gauss–Jordan elimination over the rationals, one equation at a time, that knows what followed from what. */
import { Fraction } from 'fraction.js';

/** Σ coefficient·variable + constant; variables are numbers that the caller gives out. */
export interface Combination<Constant> {
  readonly terms: ReadonlyMap<number, Fraction>;
  readonly constant: Constant;
}

/** How constants are added and scaled: sums of reals, or products of powers for ratios. */
export interface ConstantArithmetic<Constant> {
  readonly zero: Constant;
  add(a: Constant, b: Constant): Constant;
  scale(a: Constant, by: Fraction): Constant;
  isZero(a: Constant): boolean;
}

/** A combination in terms of free variables, and the equations that say so with their multiples. */
export interface Reduced<Constant> extends Combination<Constant> {
  readonly from: ReadonlyMap<number, Fraction>;
}

export type Inserted = 'new' | 'known' | 'contradiction';

/** variable = terms + constant. */
interface Row<Constant> {
  terms: Map<number, Fraction>;
  constant: Constant;
  from: Map<number, Fraction>;
}

export class Elimination<Constant> {
  /** Counts the equations that said something new. */
  version = 0;
  private readonly rows = new Map<number, Row<Constant>>();
  /** The rows whose terms contain a variable. */
  private readonly users = new Map<number, Set<number>>();
  private readonly arithmetic: ConstantArithmetic<Constant>;
  private readonly preference: (variable: number) => number;

  /** @param preference  of two variables the one with the larger number stays free */
  constructor(
    arithmetic: ConstantArithmetic<Constant>,
    preference: (variable: number) => number = () => 0,
  ) {
    this.arithmetic = arithmetic;
    this.preference = preference;
  }

  /** The combination in terms of the variables that are free so far. */
  reduce({ terms, constant }: Combination<Constant>): Reduced<Constant> {
    const reduced = new Map<number, Fraction>();
    const from = new Map<number, Fraction>();
    let rest = constant;
    for (const [variable, factor] of terms) {
      const row = this.rows.get(variable);
      if (row === undefined) {
        addTo(reduced, variable, factor);
        continue;
      }
      for (const [inner, coefficient] of row.terms) addTo(reduced, inner, coefficient.mul(factor));
      for (const [equation, multiple] of row.from) addTo(from, equation, multiple.mul(factor));
      rest = this.arithmetic.add(rest, this.arithmetic.scale(row.constant, factor));
    }
    return { terms: reduced, constant: rest, from };
  }

  /** Takes in that the combination is zero, as the equation with that number. */
  insert(combination: Combination<Constant>, equation: number): Inserted {
    const { terms, constant, from } = this.reduce(combination);
    if (terms.size === 0) return this.arithmetic.isZero(constant) ? 'known' : 'contradiction';
    const pivot = this.choose(terms.keys());
    const factor = terms.get(pivot) ?? new Fraction(1);
    const by = factor.inverse().neg();
    const row: Row<Constant> = {
      terms: new Map(),
      constant: this.arithmetic.scale(constant, by),
      from: new Map(),
    };
    for (const [variable, coefficient] of terms) {
      if (variable !== pivot) row.terms.set(variable, coefficient.mul(by));
    }
    // A row is: variable − terms − constant = Σ multiple·equation, and here reduced = combination − Σ from.
    for (const [premise, multiple] of from) row.from.set(premise, multiple.mul(by));
    addTo(row.from, equation, by.neg());
    this.replace(pivot, row);
    this.rows.set(pivot, row);
    for (const variable of row.terms.keys()) this.use(variable, pivot);
    this.version++;
    return 'new';
  }

  private choose(variables: Iterable<number>): number {
    let best = -1;
    for (const variable of variables) {
      if (best < 0 || this.preference(variable) < this.preference(best)) best = variable;
    }
    return best;
  }

  /** Puts a new row into those that have its variable. */
  private replace(pivot: number, row: Row<Constant>): void {
    for (const user of this.users.get(pivot) ?? []) {
      const other = this.rows.get(user);
      const factor = other?.terms.get(pivot);
      if (other === undefined || factor === undefined) continue;
      other.terms.delete(pivot);
      for (const [variable, coefficient] of row.terms) {
        addTo(other.terms, variable, coefficient.mul(factor));
        this.use(variable, user);
      }
      for (const [premise, multiple] of row.from) addTo(other.from, premise, multiple.mul(factor));
      const scaled = this.arithmetic.scale(row.constant, factor);
      other.constant = this.arithmetic.add(other.constant, scaled);
    }
    this.users.delete(pivot);
  }

  private use(variable: number, user: number): void {
    const users = this.users.get(variable);
    if (users === undefined) this.users.set(variable, new Set([user]));
    else users.add(user);
  }
}

/** Adds to a sparse vector; a zero leaves it. */
function addTo(terms: Map<number, Fraction>, key: number, by: Fraction): void {
  const before = terms.get(key);
  const sum = before === undefined ? by : before.add(by);
  if (sum.n === 0n) terms.delete(key);
  else terms.set(key, sum);
}
