/** Checks what an engine derived against the coordinates of a figure. */
import type { Point, Quantity } from '../cdl/statement.ts';
import { heading, type Position, turnOf } from '../construction/drawing.ts';
import type { Knowledge, Step } from './knowledge.ts';
import type { Unknown } from './measures.ts';
import { angleAt, distance } from './plane.fixture.ts';
import type { RandomFigure } from './random-figure.fixture.ts';

/** The steps that do not hold in the figure. */
export function falseSteps(knowledge: Knowledge, figure: RandomFigure): readonly Step[] {
  const truth = new Truth(figure);
  return knowledge.steps.filter((step) => !truth.holds(step, knowledge));
}

class Truth {
  private readonly figure: RandomFigure;

  constructor(figure: RandomFigure) {
    this.figure = figure;
  }

  holds({ said }: Step, { measures }: Knowledge): boolean {
    const value = (id: number): number => this.valueOf(measures.get(id));
    if (said.kind === 'sum') {
      let [total, size] = [said.linear.constant.approx, Math.abs(said.linear.constant.approx)];
      for (const [id, factor] of said.linear.terms) {
        total += factor.valueOf() * value(id);
        size += Math.abs(factor.valueOf() * value(id));
      }
      return Math.abs(total) <= 1e-6 * (1 + size);
    }
    if (said.kind === 'ratio') {
      let product = 1;
      for (const [id, exponent] of said.powers) product *= value(id) ** exponent;
      return Math.abs(product / said.constant.approx - 1) < 1e-6;
    }
    if (said.kind === 'polynomial') {
      let [total, size] = [0, 0];
      for (const { powers, coefficient } of said.polynomial.values()) {
        let product = coefficient.approx;
        for (const [id, exponent] of powers) product *= value(id) ** exponent;
        total += product;
        size += Math.abs(product);
      }
      return Math.abs(total) <= 1e-6 * (1 + size);
    }
    return this.factHolds(said.name, said.groups);
  }

  private at(point: Point): Position {
    return this.figure.points.get(point) ?? { x: Number.NaN, y: Number.NaN };
  }

  private valueOf({ what }: Unknown): number {
    return what.kind === 'symbol' ? Number.NaN : this.measure(what);
  }

  private measure({ name, points }: Quantity): number {
    const all = points.map((point) => this.at(point));
    const [a, b, c] = all;
    const circle = this.figure.circles.find((one) => one.name === points[0]);
    if (a === undefined) return Number.NaN;
    if (name === 'length' && b) return distance(a, b);
    if (name === 'angle' && b && c) return angleAt(b, a, c);
    if (name === 'radius') return circle?.radius ?? Number.NaN;
    if (name === 'arc' && b && c && circle) {
      const way = heading(circle.center, c) - heading(circle.center, b);
      return ((((way * 180) / Math.PI) % 360) + 360) % 360;
    }
    if (name === 'perimeter') {
      return all.reduce((sum, p, i) => sum + distance(p, all[(i + 1) % all.length] ?? p), 0);
    }
    if (name === 'area') {
      return Math.abs(
        all.reduce((sum, p, i) => sum + cross(p, all[(i + 1) % all.length] ?? p), 0) / 2,
      );
    }
    return Number.NaN;
  }

  private factHolds(name: string, groups: readonly (readonly Point[])[]): boolean {
    const [first = [], second = []] = groups.map((group) => group.map((point) => this.at(point)));
    const [a, b, c] = first;
    const [d, e, f] = second;
    if (!a || !b) return true;
    if ((name === 'parallel' || name === 'perpendicular') && d && e) {
      const [u, v] = [minus(b, a), minus(e, d)];
      const off = name === 'parallel' ? cross(u, v) : u.x * v.x + u.y * v.y;
      return Math.abs(off) < 1e-6 * Math.hypot(u.x, u.y) * Math.hypot(v.x, v.y);
    }
    if ((name === 'congruent' || name === 'similar') && c && d && e && f) {
      const ratios = [
        distance(a, b) / distance(d, e),
        distance(b, c) / distance(e, f),
        distance(c, a) / distance(f, d),
      ];
      const expected = name === 'congruent' ? 1 : (ratios[0] ?? 1);
      return ratios.every((ratio) => Math.abs(ratio / expected - 1) < 1e-6);
    }
    return true;
  }
}

function cross(a: Position, b: Position): number {
  return a.x * b.y - a.y * b.x;
}

function minus(a: Position, b: Position): Position {
  return { x: a.x - b.x, y: a.y - b.y };
}

/** Whether the orientation that a figure was given agrees with its coordinates. */
export function wrongTurns(knowledge: Knowledge, { points }: RandomFigure): readonly string[] {
  const wrong: string[] = [];
  const all = [...points];
  for (const [i, [a, p]] of all.entries()) {
    for (const [j, [b, q]] of all.entries()) {
      if (j <= i) continue;
      for (const [c, r] of all.slice(j + 1)) {
        if (knowledge.figure.areCollinear(a, b, c)) continue;
        const turn = knowledge.figure.orientation.turn(a, b, c);
        if (turn !== 0 && turn !== Math.sign(turnOf(p, q, r))) wrong.push(`${a}${b}${c}`);
      }
    }
  }
  return wrong;
}
