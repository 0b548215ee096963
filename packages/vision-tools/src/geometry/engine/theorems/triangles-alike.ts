/** Congruent and similar triangles by their sides and angles; isosceles ones are congruent to themselves. */
import type { Point } from '../../cdl/statement.ts';
import { Real } from '../../numbers/real.ts';
import type { Knowledge } from '../knowledge.ts';
import { type Linear, single, sum } from '../measures.ts';
import { defineTheorem, type Theorem } from '../theorem.ts';

type Triangle = readonly [Point, Point, Point];

/** A triangle in one of its six orders, with the keys of its parts. */
interface Ordered {
  readonly corners: Triangle;
  readonly sides: readonly [number, number, number];
  readonly angles: readonly [Linear, Linear, Linear];
}

interface Criterion {
  readonly name: string;
  /** Equal for triangles that agree in what the criterion needs; `undefined` where that says nothing. */
  key(knowledge: Knowledge, triangle: Ordered): string | undefined;
  /** The steps from which it follows that both agree. */
  premises(knowledge: Knowledge, a: Ordered, b: Ordered): readonly number[];
}

const orders = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;

/** Sides are opposite to the corner with their index. */
function ordered(
  { measures }: Knowledge,
  triangle: Triangle,
  order: (typeof orders)[number],
): Ordered {
  const [a, b, c] = [triangle[order[0]], triangle[order[1]], triangle[order[2]]];
  return {
    corners: [a, b, c],
    sides: [measures.length(b, c), measures.length(c, a), measures.length(a, b)],
    angles: [measures.angle(b, a, c), measures.angle(c, b, a), measures.angle(a, c, b)],
  };
}

const sameSides =
  (...which: readonly (0 | 1 | 2)[]) =>
  (knowledge: Knowledge, a: Ordered, b: Ordered): readonly number[] =>
    which.flatMap((side) => {
      const ratio = knowledge.ratio([
        [a.sides[side], 1],
        [b.sides[side], -1],
      ]);
      return ratio?.premises ?? [];
    });

const sameAngles =
  (...which: readonly (0 | 1 | 2)[]) =>
  (knowledge: Knowledge, a: Ordered, b: Ordered): readonly number[] =>
    which.flatMap((angle) => knowledge.equal(a.angles[angle], b.angles[angle]) ?? []);

const sameRatio = (knowledge: Knowledge, a: Ordered, b: Ordered, one: 0 | 1, two: 1 | 2) =>
  knowledge.ratio([
    [a.sides[one], 1],
    [a.sides[two], -1],
    [b.sides[one], -1],
    [b.sides[two], 1],
  ])?.premises ?? [];

const side = (knowledge: Knowledge, triangle: Ordered, which: 0 | 1 | 2): string =>
  knowledge.ratioKey([[triangle.sides[which], 1]]);
const angle = (knowledge: Knowledge, triangle: Ordered, which: 0 | 1 | 2): string =>
  knowledge.sumKey(triangle.angles[which]);
const quotient = (knowledge: Knowledge, { sides }: Ordered, one: 0 | 1, two: 1 | 2): string =>
  knowledge.ratioKey([
    [sides[one], 1],
    [sides[two], -1],
  ]);
const join = (...keys: readonly string[]): string => keys.join(' | ');

function isObtuseOrRight(knowledge: Knowledge, angle: Linear): boolean {
  const known = knowledge.value(angle);
  return known !== undefined && (known.value.approx > 90 || known.value.equals(Real.of(90)));
}

const congruence: readonly Criterion[] = [
  {
    name: 'SSS',
    key: (k, t) => join(side(k, t, 0), side(k, t, 1), side(k, t, 2)),
    premises: sameSides(0, 1, 2),
  },
  {
    name: 'SAS',
    key: (k, t) => join(side(k, t, 1), angle(k, t, 0), side(k, t, 2)),
    premises: (k, a, b) => [...sameSides(1, 2)(k, a, b), ...sameAngles(0)(k, a, b)],
  },
  {
    name: 'ASA',
    key: (k, t) => join(angle(k, t, 1), side(k, t, 0), angle(k, t, 2)),
    premises: (k, a, b) => [...sameSides(0)(k, a, b), ...sameAngles(1, 2)(k, a, b)],
  },
  {
    name: 'AAS',
    key: (k, t) => join(angle(k, t, 0), angle(k, t, 1), side(k, t, 0)),
    premises: (k, a, b) => [...sameSides(0)(k, a, b), ...sameAngles(0, 1)(k, a, b)],
  },
  {
    // Two sides and an angle opposite to one of them decide where that angle is not acute.
    name: 'hypotenuse and leg',
    key: (k, t) =>
      isObtuseOrRight(k, t.angles[0])
        ? join(angle(k, t, 0), side(k, t, 0), side(k, t, 1))
        : undefined,
    premises: (k, a, b) => [...sameSides(0, 1)(k, a, b), ...sameAngles(0)(k, a, b)],
  },
];

const similarity: readonly Criterion[] = [
  {
    name: 'AA',
    key: (k, t) => join(angle(k, t, 0), angle(k, t, 1)),
    premises: sameAngles(0, 1),
  },
  {
    name: 'SAS of sides in proportion',
    key: (k, t) => join(angle(k, t, 0), quotient(k, t, 1, 2)),
    premises: (k, a, b) => [...sameAngles(0)(k, a, b), ...sameRatio(k, a, b, 1, 2)],
  },
  {
    name: 'SSS of sides in proportion',
    key: (k, t) => join(quotient(k, t, 0, 1), quotient(k, t, 1, 2)),
    premises: (k, a, b) => [...sameRatio(k, a, b, 0, 1), ...sameRatio(k, a, b, 1, 2)],
  },
];

export const congruentTriangles: Theorem = defineTheorem({
  name: 'congruent triangles',
  level: 2,
  about: ['length', 'angle', 'relation'],
  apply: (knowledge) => findAlike(knowledge, 'congruent', congruence),
});

export const similarTriangles: Theorem = defineTheorem({
  name: 'similar triangles',
  level: 2,
  about: ['length', 'angle', 'relation'],
  apply: (knowledge) => findAlike(knowledge, 'similar', similarity),
});

/** The corresponding parts of congruent and similar triangles, whether given or found. */
export const partsOfAlike: Theorem = defineTheorem({
  name: 'corresponding parts',
  level: 1,
  about: ['length', 'angle'],
  apply(knowledge) {
    for (const kind of ['congruent', 'similar'] as const) {
      for (const { said, id, text } of knowledge.factsOf(kind)) {
        const [first, second] = said.groups;
        if (first === undefined || second === undefined) continue;
        const [a, b] = [first, second].map(([one, two, three]) =>
          one && two && three ? ordered(knowledge, [one, two, three], orders[0]) : undefined,
        );
        if (a !== undefined && b !== undefined) equate(knowledge, kind, a, b, text, id);
      }
    }
  },
});

function findAlike(
  knowledge: Knowledge,
  kind: 'congruent' | 'similar',
  criteria: readonly Criterion[],
): void {
  const triangles = knowledge.figure
    .triangles()
    .map((triangle) => orders.map((order) => ordered(knowledge, triangle, order)));
  for (const { name, key, premises } of criteria) {
    const seen = new Map<string, Ordered>();
    for (const versions of triangles) {
      for (const version of versions) {
        const value = key(knowledge, version);
        if (value === undefined) continue;
        const other = seen.get(value);
        if (other === undefined) seen.set(value, version);
        else
          addAlike(knowledge, kind, other, version, name, () =>
            premises(knowledge, other, version),
          );
      }
    }
  }
}

/** Says that two triangles are alike, unless all that follows is known. */
function addAlike(
  knowledge: Knowledge,
  kind: 'congruent' | 'similar',
  a: Ordered,
  b: Ordered,
  criterion: string,
  premises: () => readonly number[],
): void {
  if (knowsParts(knowledge, kind, a, b)) return;
  const [first, second] = [a.corners, b.corners];
  const isSelf = [...first].sort().join() === [...second].sort().join();
  const sign = kind === 'congruent' ? '≅' : '∼';
  const text = `△${first.join('')} ${sign} △${second.join('')}`;
  const reason = isSelf && kind === 'congruent' ? 'isosceles triangle' : criterion;
  knowledge.addFact(kind, [first, second], text, reason, premises());
  const step = knowledge.fact(kind, [first, second]);
  if (step !== undefined) equate(knowledge, kind, a, b, text, step);
}

function knowsParts(
  knowledge: Knowledge,
  kind: 'congruent' | 'similar',
  a: Ordered,
  b: Ordered,
): boolean {
  const areAnglesKnown = ([0, 1, 2] as const).every(
    (at) => knowledge.equal(a.angles[at], b.angles[at]) !== undefined,
  );
  if (!areAnglesKnown) return false;
  if (kind === 'congruent') {
    return ([0, 1, 2] as const).every((at) =>
      knowledge
        .ratio([
          [a.sides[at], 1],
          [b.sides[at], -1],
        ])
        ?.value.equals(Real.one),
    );
  }
  return ([1, 2] as const).every((at) =>
    knowledge
      .ratio([
        [a.sides[0], 1],
        [b.sides[0], -1],
        [a.sides[at], -1],
        [b.sides[at], 1],
      ])
      ?.value.equals(Real.one),
  );
}

function equate(
  knowledge: Knowledge,
  kind: 'congruent' | 'similar',
  a: Ordered,
  b: Ordered,
  text: string,
  step: number,
): void {
  const reason = `corresponding parts of ${text}`;
  for (const at of [0, 1, 2] as const) {
    knowledge.addSum(sum([a.angles[at], 1], [b.angles[at], -1]), reason, [step]);
    if (kind === 'congruent') {
      const difference = sum([single(a.sides[at]), 1], [single(b.sides[at]), -1]);
      knowledge.addSum(difference, reason, [step]);
      knowledge.addRatio(
        [
          [a.sides[at], 1],
          [b.sides[at], -1],
        ],
        Real.one,
        reason,
        [step],
      );
    } else if (at !== 0) {
      const powers = [
        [a.sides[0], 1],
        [b.sides[0], -1],
        [a.sides[at], -1],
        [b.sides[at], 1],
      ] as const;
      knowledge.addRatio(powers, Real.one, reason, [step]);
      addProportion(knowledge, a, b, at, reason, step);
    }
  }
}

/** The same as an equation of products, for sides that are sums such as x + 2. */
function addProportion(
  knowledge: Knowledge,
  a: Ordered,
  b: Ordered,
  at: 1 | 2,
  reason: string,
  step: number,
): void {
  const sides = [a.sides[0], b.sides[0], a.sides[at], b.sides[at]];
  const hasSum = sides.some((id) => knowledge.form(id).value.size > 1);
  if (!hasSum) return;
  knowledge.addProportion([a.sides[0], b.sides[at]], [b.sides[0], a.sides[at]], reason, [step]);
}
