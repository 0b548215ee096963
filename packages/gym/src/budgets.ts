/** The limits of one trajectory. */

export interface Budgets {
  /** Turns with code or a tool call; the answer turn comes on top. */
  readonly toolTurns: number;
  /** Images allowed in the context, those of the prompt included; Infinity for no limit. */
  readonly images: number;
}
