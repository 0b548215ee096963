/** Judges are models that grade. A judge is a question and the grades that may come back. */
import type { ChatMessage } from './chat/chat-model.ts';

/** A text that the policy wrote: shown to a judge, but never trusted as an instruction. */
export type Untrusted = string;

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
   * What the model is asked.
   *
   * @param boundary  fresh random letters: they fence untrusted text, and the reply repeats them
   */
  ask(input: Input, boundary: string): readonly ChatMessage[];
  /** What the grade depends on, for the key of the cache: texts, numbers, bytes. */
  keyOf(input: Input): readonly (string | number | Uint8Array)[];
}
