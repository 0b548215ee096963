/** Pythagoras and the laws of sines and cosines: sides from angles, and angles from sides. */
import { addPolynomials, monomial } from '../../algebra/polynomial.ts';
import type { Point } from '../../cdl/statement.ts';
import { Real } from '../../numbers/real.ts';
import { arcCosine, cosine, sine } from '../../numbers/trigonometry.ts';
import type { Knowledge, Known } from '../knowledge.ts';
import { constant, type Linear, sum } from '../measures.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

/** A corner with the other two: the side opposite to it, and those beside it. */
interface Corner {
  readonly triangle: string;
  readonly angle: Linear;
  readonly opposite: number;
  readonly beside: readonly [number, number];
}

function* cornersOf(knowledge: Knowledge): Iterable<Corner> {
  const { figure, measures } = knowledge;
  for (const [a, b, c] of figure.triangles()) {
    for (const [at, one, two] of [
      [a, b, c],
      [b, c, a],
      [c, a, b],
    ] as const) {
      yield {
        triangle: [a, b, c].join(''),
        angle: measures.angle(one, at, two),
        opposite: measures.length(one, two),
        beside: [measures.length(at, one), measures.length(at, two)],
      };
    }
  }
}

export const pythagoras: Theorem = defineTheorem({
  name: 'Pythagorean theorem',
  level: 1,
  about: ['length'],
  apply(knowledge) {
    for (const corner of cornersOf(knowledge)) {
      const known = knowledge.value(corner.angle);
      if (known?.value.equals(Real.of(90)) === true) addCosineLaw(knowledge, corner, known);
    }
  },
});

export const lawOfCosines: Theorem = defineTheorem({
  name: 'law of cosines',
  level: 3,
  about: ['length'],
  apply(knowledge) {
    for (const corner of cornersOf(knowledge)) {
      const known = knowledge.value(corner.angle);
      if (known === undefined || known.value.equals(Real.of(90))) continue;
      const isUseful = [corner.opposite, ...corner.beside].filter(
        (side) => knowledge.valueOf(side) === undefined,
      );
      if (isUseful.length === 1) addCosineLaw(knowledge, corner, known);
    }
  },
});

function addCosineLaw(knowledge: Knowledge, corner: Corner, angle: Known<Real>): void {
  const { opposite, beside } = corner;
  const [b, c] = beside;
  const twice = cosine(angle.value).multiply(Real.of(2));
  const law = addPolynomials(
    monomial(1, [b, 2]),
    monomial(1, [c, 2]),
    monomial(twice.negate(), [b, 1], [c, 1]),
    monomial(-1, [opposite, 2]),
  );
  const name = twice.isZero ? 'Pythagorean theorem' : 'law of cosines';
  knowledge.addPolynomial(law, `${name} in △${corner.triangle}`, angle.premises);
}

/** a / sin α = b / sin β; in a right triangle this is what sines and cosines are. */
export const lawOfSines: Theorem = defineTheorem({
  name: 'law of sines',
  level: 2,
  about: ['length'],
  apply(knowledge) {
    const { measures, figure } = knowledge;
    for (const [a, b, c] of figure.triangles()) {
      const corners = [
        { angle: measures.angle(b, a, c), side: measures.length(b, c) },
        { angle: measures.angle(a, b, c), side: measures.length(a, c) },
        { angle: measures.angle(a, c, b), side: measures.length(a, b) },
      ];
      const known = corners.flatMap(({ angle, side }) => {
        const value = knowledge.value(angle);
        return value === undefined ? [] : [{ side, ...value }];
      });
      const [first, ...others] = known;
      if (first === undefined || !isAngle(first.value)) continue;
      const isRight = known.some(({ value }) => value.equals(Real.of(90)));
      const name = isRight ? 'trigonometry in the right triangle' : 'law of sines in';
      for (const other of others) {
        if (!isAngle(other.value)) continue;
        const ratio = sine(first.value).divide(sine(other.value));
        const premises = [...first.premises, ...other.premises];
        const powers = [
          [first.side, 1],
          [other.side, -1],
        ] as const;
        knowledge.addRatio(powers, ratio, `${name} ${[a, b, c].join('')}`, premises);
      }
    }
  },
});

function isAngle(value: Real): boolean {
  return value.approx > 1e-6 && value.approx < 180 - 1e-6;
}

/** An angle from three sides, or from their ratios. */
export const angleFromSides: Theorem = defineTheorem({
  name: 'angle from the sides',
  level: 2,
  about: ['angle'],
  apply(knowledge) {
    for (const corner of cornersOf(knowledge)) {
      if (knowledge.value(corner.angle) !== undefined) continue;
      const { opposite, beside } = corner;
      const [b, c] = beside;
      const first = knowledge.ratio([
        [b, 1],
        [opposite, -1],
      ]);
      const second = knowledge.ratio([
        [c, 1],
        [opposite, -1],
      ]);
      if (first === undefined || second === undefined) continue;
      const squares = first.value.power(2).add(second.value.power(2));
      const product = first.value.multiply(second.value).multiply(Real.of(2));
      const degrees = arcCosine(squares.subtract(Real.one).divide(product));
      if (degrees === undefined) continue;
      const isRight = degrees.equals(Real.of(90));
      const name = isRight ? 'converse of the Pythagorean theorem' : 'law of cosines';
      knowledge.addSum(
        sum([corner.angle, 1], [constant(degrees), -1]),
        `${name} in △${corner.triangle}`,
        [...first.premises, ...second.premises],
      );
    }
  },
});

/** An angle from two sides and the right or obtuse angle opposite to the longer one. */
export const angleFromSine: Theorem = defineTheorem({
  name: 'angle from two sides and an angle that is not acute',
  level: 3,
  about: ['angle'],
  apply(knowledge) {
    for (const corner of cornersOf(knowledge)) {
      const known = knowledge.value(corner.angle);
      if (known === undefined || known.value.approx < 90 - 1e-9) continue;
      const ratio = knowledge.ratio([
        [corner.beside[0], 1],
        [corner.opposite, -1],
      ]);
      if (ratio === undefined) continue;
      // sin β = (b / a)·sin α with β acute: cos β = √(1 − sin² β).
      const sineOf = ratio.value.multiply(sine(known.value));
      const square = Real.one.subtract(sineOf.multiply(sineOf));
      if (square.approx <= 0) continue;
      const degrees = arcCosine(square.root());
      const vertex = acuteAt(knowledge, corner);
      if (degrees === undefined || vertex === undefined) continue;
      knowledge.addSum(
        sum([vertex, 1], [constant(degrees), -1]),
        `law of sines in △${corner.triangle}`,
        [...known.premises, ...ratio.premises],
      );
    }
  },
});

/** The angle opposite to the first side beside a corner. */
function acuteAt({ measures }: Knowledge, corner: Corner): Linear | undefined {
  const side = measures.get(corner.beside[0]).what;
  const opposite = measures.get(corner.opposite).what;
  if (side.kind !== 'quantity' || opposite.kind !== 'quantity') return undefined;
  const shared = side.points.find((point) => opposite.points.includes(point));
  const vertex = opposite.points.find((point) => point !== shared);
  const apex: Point | undefined = side.points.find((point) => point !== shared);
  if (shared === undefined || vertex === undefined || apex === undefined) return undefined;
  return measures.angle(apex, vertex, shared);
}
