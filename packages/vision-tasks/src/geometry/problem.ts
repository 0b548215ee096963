/** Problems on a figure: some measures are given, one is asked, and k theorems lead to it. */
import type { Random } from '@saccade/core';
import { type Figure, isComposite, measure } from './figure.ts';
import { isRoomy, renamePoints } from './make-figure.ts';
import { type ProofStep, type Quantity, quantitiesOf, shortestProof } from './relation.ts';

/** The givens and the question of a figure. */
export interface Problem {
  readonly figure: Figure;
  /** The given measures; integers: units of length, or degrees. */
  readonly given: ReadonlyMap<Quantity, number>;
  readonly goal: Quantity;
  /** An integer. */
  readonly answer: number;
  /** A shortest proof. */
  readonly proof: readonly ProofStep[];
}

const tolerance = 1e-6;
const maxGiven = 4;
const figuresOfKind = 60;

const isWhole = (value: number): boolean => Math.abs(value - Math.round(value)) < tolerance;

/**
 * A problem whose shortest proof applies exactly this many theorems.
 *
 * @param kinds     kinds of figures to choose from
 * @param letters   names of points to choose from; O stays the center of a circle
 * @param theorems  1 to 3
 */
export function makeProblem(
  kinds: readonly ((random: Random) => Figure)[],
  letters: readonly string[],
  theorems: number,
  random: Random,
): Problem {
  let kind = random.pick(kinds);
  for (let figures = 1; ; figures++) {
    // Some kinds make fewer problems than others. Each is tried for a while, for an even mixture.
    if (figures % figuresOfKind === 0) kind = random.pick(kinds);
    const made = kind(random);
    if (!isRoomy(made)) continue;
    const names = [...made.points.keys()].filter((name) => name !== 'O');
    const chosen = random.shuffle(letters);
    const others = names.map((name, index) => [name, chosen[index] ?? name] as const);
    const figure = renamePoints(made, new Map(others));
    // A figure is worth a few attempts: many choices of a goal have no proof of this length.
    for (let attempt = 0; attempt < 20; attempt++) {
      const problem = hideMeasures(figure, theorems, random);
      if (problem !== undefined) return problem;
    }
  }
}

function hideMeasures(figure: Figure, theorems: number, random: Random): Problem | undefined {
  const whole = figure.quantities.filter((quantity) => isWhole(measure(figure, quantity)));
  if (whole.length === 0) return undefined;
  const goal = random.pick(whole);
  const needed = unfold(figure, goal, theorems, random);
  if (needed === undefined || needed.length > maxGiven) return undefined;
  if (!needed.every((quantity) => whole.includes(quantity))) return undefined;
  // The text says what a label cannot; a problem of text alone needs no figure.
  if (needed.every((quantity) => isComposite(figure, quantity))) return undefined;
  const given = new Map(needed.map((name) => [name, Math.round(measure(figure, name))] as const));
  const answer = Math.round(measure(figure, goal));
  // A given number that is also the answer could be read off the image.
  if ([...given.values()].includes(answer)) return undefined;
  const proof = shortestProof(figure.relations, given, goal, theorems);
  if (proof === undefined || proof.length !== theorems) return undefined;
  if (Math.abs((proof.at(-1)?.value ?? Number.NaN) - answer) > tolerance) {
    throw new Error(`The proof of ${goal} in ${figure.kind} does not give ${answer}.`);
  }
  return { figure, given, goal, answer, proof };
}

/** Replaces the goal, then measures it needs, by the others of a theorem; k times. */
function unfold(
  figure: Figure,
  goal: Quantity,
  theorems: number,
  random: Random,
): readonly Quantity[] | undefined {
  const derived = new Set<Quantity>();
  const open = new Set([goal]);
  for (let step = 0; step < theorems; step++) {
    const next = random.pick([...open]);
    const fitting = figure.relations.filter((relation) => {
      const all = quantitiesOf(relation);
      return all.includes(next) && !all.some((quantity) => derived.has(quantity));
    });
    if (fitting.length === 0) return undefined;
    derived.add(next);
    open.delete(next);
    for (const quantity of quantitiesOf(random.pick(fitting))) {
      if (quantity !== next) open.add(quantity);
    }
  }
  return [...open];
}
