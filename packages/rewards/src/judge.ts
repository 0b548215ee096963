/** Judges are models that grade. A judge is a question and the grades that may come back. */
import type { ChatMessage } from '@saccade/chat';

/** A text that the policy wrote: shown to a judge, but never trusted as an instruction. */
export type Untrusted = string;

/** How much of a trajectory a judge is shown. */
export interface JudgeLimits {
  /** Characters of one text; longer ones lose their middle. */
  readonly textCharacters: number;
  /** Characters of a thought, its end, where a judge reads no more. */
  readonly thoughtCharacters: number;
  /** Images of a whole trajectory: the first one and those after it. */
  readonly images: number;
}

/** The end of a thought is Thyme's code, the images are those of CodeV's: the first one and three. */
export const judgeLimits: JudgeLimits = { textCharacters: 4000, thoughtCharacters: 500, images: 4 };

/**
 * A question to a model and the grades it may give. It is pure: `askWith` connects it to a
 * `ChatModel`.
 */
export interface Judge<Input> {
  readonly name: string;
  /** Where the question and the grades come from. */
  readonly paper: string;
  /** Every grade it may give, ascending. */
  readonly grades: readonly number[];
  /**
   * The messages for the model.
   *
   * @param boundary  fresh random letters: they fence untrusted text, and the reply repeats them
   * @param limits    how much is shown; default `judgeLimits`
   */
  ask(input: Input, boundary: string, limits?: JudgeLimits): readonly ChatMessage[];
  /** The inputs that determine the grade, for the key of the cache: texts, numbers, bytes. */
  keyOf(input: Input, limits?: JudgeLimits): readonly (string | number | Uint8Array)[];
}
