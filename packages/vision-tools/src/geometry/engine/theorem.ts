/** A theorem of plane geometry, applied wherever a figure fits it. */
import type { Knowledge } from './knowledge.ts';

export interface Theorem {
  /** In words, for proofs. */
  readonly name: string;
  /** From 1, what school teaches first and what is cheap to try, to 3. */
  readonly level: 1 | 2 | 3;
  /** The topics of its conclusions, to choose theorems by a goal. */
  readonly about: readonly ('angle' | 'length' | 'arc' | 'area' | 'perimeter' | 'relation')[];
  /** Takes in what follows. Says nothing twice: what is known already is not a step. */
  apply(knowledge: Knowledge): void;
}

export function defineTheorem(theorem: Theorem): Theorem {
  return theorem;
}
