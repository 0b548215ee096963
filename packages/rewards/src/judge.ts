/** Judges are models that grade. A judge is what is asked and how the reply is read: both pure. */
import type { ChatMessage } from './chat/chat-model.ts';

/** A text for the eyes of a judge that nobody vouches for. */
export type Untrusted = string;

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
