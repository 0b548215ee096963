/** Theorems applied to a figure, as equations between its measures, and solving them for one. */

/** A measure of a figure: `AB` is a length, `∠ABC` an angle in degrees. */
export type Quantity = string;

/**
 * One application of a theorem: Σ cᵢ·f(xᵢ) = constant. f is the identity for sums, the square for
 * Pythagoras and the logarithm for ratios, so every theorem here is solved in the same way.
 */
export interface Relation {
  readonly theorem: string;
  readonly scale: 'linear' | 'square' | 'logarithm';
  readonly terms: readonly (readonly [quantity: Quantity, coefficient: number])[];
  readonly constant: number;
}

/** A step of a proof: the relation gives one measure from the others. */
export interface ProofStep {
  readonly theorem: string;
  readonly from: readonly Quantity[];
  readonly gives: Quantity;
  readonly value: number;
}

const scales = {
  linear: { to: (x: number) => x, from: (y: number) => y },
  square: { to: (x: number) => x * x, from: (y: number) => Math.sqrt(y) },
  logarithm: { to: (x: number) => Math.log(x), from: (y: number) => Math.exp(y) },
} as const;

/** The quantities of a relation, without their coefficients. */
export function quantitiesOf({ terms }: Relation): readonly Quantity[] {
  return terms.map(([quantity]) => quantity);
}

/** How far the two sides of a relation are apart for given values; 0 where it holds. */
export function residual(relation: Relation, measureOf: (quantity: Quantity) => number): number {
  const { to } = scales[relation.scale];
  const left = relation.terms.reduce((sum, [q, factor]) => sum + factor * to(measureOf(q)), 0);
  return Math.abs(left - relation.constant);
}

/** The step that a relation allows: its one unknown measure; undefined if it has none or several. */
function applyRelation(
  relation: Relation,
  known: ReadonlyMap<Quantity, number>,
): ProofStep | undefined {
  const unknown = relation.terms.filter(([quantity]) => !known.has(quantity));
  const [first, ...more] = unknown;
  if (first === undefined || more.length > 0) return undefined;
  const { to, from } = scales[relation.scale];
  let rest = relation.constant;
  const sources: Quantity[] = [];
  for (const [quantity, factor] of relation.terms) {
    const value = known.get(quantity);
    if (value === undefined) continue;
    rest -= factor * to(value);
    sources.push(quantity);
  }
  const value = from(rest / first[1]);
  return { theorem: relation.theorem, from: sources, gives: first[0], value };
}

/**
 * A shortest proof: the fewest applications that lead from the given measures to the goal.
 *
 * @param most  the most applications to try
 * @returns     undefined where even that many do not reach the goal
 */
export function shortestProof(
  relations: readonly Relation[],
  given: ReadonlyMap<Quantity, number>,
  goal: Quantity,
  most: number,
): readonly ProofStep[] | undefined {
  for (let depth = 1; depth <= most; depth++) {
    const proof = proofWithin(relations, given, goal, depth);
    if (proof !== undefined) return proof;
  }
  return undefined;
}

function proofWithin(
  relations: readonly Relation[],
  known: ReadonlyMap<Quantity, number>,
  goal: Quantity,
  depth: number,
): readonly ProofStep[] | undefined {
  const steps = relations.flatMap((relation) => applyRelation(relation, known) ?? []);
  const last = steps.find(({ gives }) => gives === goal);
  if (last !== undefined) return [last];
  if (depth === 1) return undefined;
  for (const step of steps) {
    const more = new Map(known).set(step.gives, step.value);
    const rest = proofWithin(relations, more, goal, depth - 1);
    if (rest !== undefined) return [step, ...rest];
  }
  return undefined;
}
