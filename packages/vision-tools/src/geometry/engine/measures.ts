/** The unknowns of a figure: lengths, angles, arcs, areas and letters, numbered, with their domains. */
import { Fraction } from 'fraction.js';
import type { Combination } from '../algebra/elimination.ts';
import { type Point, type Quantity, quantity } from '../cdl/statement.ts';
import { nameQuantity } from '../cdl/write-cdl.ts';
import type { Circle, Figure } from '../figure/figure.ts';
import { Real } from '../numbers/real.ts';

/** Lengths and areas are positive; angles are from 0° to 180°, arcs to 360°; letters are any number. */
export type Domain = 'positive' | 'angle' | 'arc' | 'any';

export interface Unknown {
  readonly id: number;
  readonly domain: Domain;
  /** A measure of the figure, or a letter of the text. */
  readonly what: Quantity | { readonly kind: 'symbol'; readonly name: string };
  readonly name: string;
}

export type Linear = Combination<Real>;

export class Measures {
  readonly unknowns: Unknown[] = [];
  private readonly ids = new Map<string, number>();
  private readonly figure: Figure;

  constructor(figure: Figure) {
    this.figure = figure;
  }

  get(id: number): Unknown {
    const unknown = this.unknowns[id];
    if (unknown === undefined) throw new RangeError(`There is no unknown ${id}.`);
    return unknown;
  }

  /** The unknown for the distance between two points. */
  length(a: Point, b: Point): number {
    return this.idOf('positive', quantity('length', a < b ? [a, b] : [b, a]));
  }

  /** ∠abc, not oriented: the same for all points of its two rays; 180° or 0° on a line. */
  angle(a: Point, b: Point, c: Point): Linear {
    const [first, second] = [this.figure.ray(b, a)[0] ?? a, this.figure.ray(b, c)[0] ?? c];
    if (first === second) return constant(Real.zero);
    if (this.figure.isBetween(b, a, c)) return constant(Real.of(180));
    const arms = first < second ? [first, b, second] : [second, b, first];
    return single(this.idOf('angle', quantity('angle', arms)));
  }

  /** The arc counterclockwise from a to b; `undefined` where the order on the circle is unknown. */
  arc(circle: Circle, a: Point, b: Point): Linear | undefined {
    const { order, name } = circle;
    const [from, to] = [order?.indexOf(a) ?? -1, order?.indexOf(b) ?? -1];
    if (order === undefined || from < 0 || to < 0 || from === to) return undefined;
    const terms = new Map<number, Fraction>();
    for (let at = from; at !== to; at = (at + 1) % order.length) {
      const ends = [order[at] ?? a, order[(at + 1) % order.length] ?? b];
      terms.set(this.idOf('arc', quantity('arc', [name, ...ends])), new Fraction(1));
    }
    return { terms, constant: Real.zero };
  }

  radius(circle: string): number {
    return this.idOf('positive', quantity('radius', [circle]));
  }

  /** Any other measure of a circle, sector or polygon. */
  measure(name: Quantity['name'], points: readonly Point[]): number {
    return this.idOf('positive', quantity(name, canonical(name, points)));
  }

  symbol(name: string): number {
    return this.numbered(`letter ${name}`, 'any', { kind: 'symbol', name }, name);
  }

  private idOf(domain: Domain, what: Quantity): number {
    return this.numbered(`${what.name} ${what.points.join(' ')}`, domain, what, nameQuantity(what));
  }

  private numbered(key: string, domain: Domain, what: Unknown['what'], name: string): number {
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const id = this.unknowns.length;
    this.unknowns.push({ id, domain, what, name });
    this.ids.set(key, id);
    return id;
  }
}

function canonical(name: Quantity['name'], points: readonly Point[]): readonly Point[] {
  if (name === 'area' || name === 'perimeter') return canonicalPolygon(points);
  const [apex, ...base] = points;
  // The height of a triangle is the one from its first corner.
  return name === 'height' && apex !== undefined && base.length === 2
    ? [apex, ...base.sort()]
    : points;
}

/** The corners from the first in the alphabet, toward its smaller neighbor. */
function canonicalPolygon(corners: readonly Point[]): readonly Point[] {
  const smallest = corners.indexOf([...corners].sort()[0] ?? '');
  const around = [...corners.slice(smallest), ...corners.slice(0, smallest)];
  const [first, second] = around;
  const last = around.at(-1);
  if (first === undefined || second === undefined || last === undefined) return corners;
  return last < second ? [first, ...around.slice(1).reverse()] : around;
}

export function constant(value: Real): Linear {
  return { terms: new Map(), constant: value };
}

export function single(id: number, factor: Fraction = new Fraction(1)): Linear {
  return { terms: new Map([[id, factor]]), constant: Real.zero };
}

/** Σ factor·part. */
export function sum(...parts: readonly (readonly [Linear, number | Fraction])[]): Linear {
  const terms = new Map<number, Fraction>();
  let rest = Real.zero;
  for (const [part, by] of parts) {
    const factor = new Fraction(by);
    for (const [id, coefficient] of part.terms) {
      const before = terms.get(id);
      const product = coefficient.mul(factor);
      const total = before === undefined ? product : before.add(product);
      if (total.n === 0n) terms.delete(id);
      else terms.set(id, total);
    }
    rest = rest.add(part.constant.scale(factor));
  }
  return { terms, constant: rest };
}
