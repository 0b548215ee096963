/**
 * How much work the analysis of one execution may be, counted and not timed: a result depends on the
 * code alone. Code that a policy wrote may be anything, so every limit is reached by some.
 */

/** Characters of code that are read at all. */
export const MAX_CHARACTERS = 8000;
/** Characters of a line with an error, for the error to be believed. */
export const MAX_LINE = 2000;
/** Nodes of the syntax tree. */
export const MAX_NODES = 6000;
/** Nested nodes of the syntax tree: what is read by recursion must fit the stack. */
export const MAX_NESTING = 100;
/** Steps: statements, expressions, and items that are touched. */
const MAX_STEPS = 20_000;
/** Expressions and statements that are followed inside of each other, through calls. */
const MAX_FOLLOWED = 300;
/** Items of a list, characters of a text that are known; what is larger is unknown. */
export const MAX_ITEMS = 1024;
export const MAX_TEXT = 4096;
/** Operations on images in one execution. */
export const MAX_OPERATIONS = 1024;
/** Parts of a value that are looked at to tell whether it equals another. */
export const MAX_COMPARED = 64;

/**
 * Why the analysis of an execution stopped before its end:
 *
 * - `code` the code is too long, or too entangled, to be read;
 * - `nesting` it is nested too deeply, or its calls are;
 * - `steps` it does too much;
 * - `size` it makes a list or a dictionary too large.
 */
export type GiveUpReason = 'code' | 'nesting' | 'steps' | 'size';

/** Thrown where the analysis gives up; never reaches its caller. */
export class BudgetExceededError extends Error {
  readonly reason: GiveUpReason;

  constructor(reason: GiveUpReason) {
    super(reason);
    this.reason = reason;
  }
}

/** The work that one execution may still do. */
export class Budget {
  #steps = 0;
  #depth = 0;

  /** Counts work. @throws BudgetExceededError beyond the most that one execution may take */
  spend(steps = 1): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw new BudgetExceededError('steps');
  }

  /** Runs something inside of what is followed now. @throws BudgetExceededError where that is too deep */
  inside<Result>(run: () => Result): Result {
    if (this.#depth >= MAX_FOLLOWED) throw new BudgetExceededError('nesting');
    this.#depth++;
    try {
      return run();
    } finally {
      this.#depth--;
    }
  }
}
