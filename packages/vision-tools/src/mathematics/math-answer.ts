/** The answer to a question about formulas. */
export interface MathAnswer {
  /** As a person writes it. */
  readonly answer: string;
  /** The numbers in it, to match choices. */
  readonly values: readonly number[];
  readonly steps: readonly string[];
}
