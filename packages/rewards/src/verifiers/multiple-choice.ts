/** Answers that name one of several options. */
import { textList } from '@saccade/core/settings';
import { z } from 'zod';
import { defineVerifier, type VerifierUnit } from '../define-verifier.ts';
import { plainText } from './exact.ts';

/** An option as it is named: by its letter, its text, or both. */
interface Choice {
  readonly letter?: string;
  readonly text: string;
}

const settings = z.strictObject({
  options: textList({
    unit: 'texts',
    about: 'The texts of A, B, C, …; with them letters and texts stand for each other.',
  }),
});

/**
 * 1 if both name the same option: `B`, `(B)`, `B. red`, `option B`, `red`.
 *
 * A letter against a letter decides; where one of them has none, the texts must be the same. Without
 * the setting `options` a letter cannot be matched with a text: see {@link multipleChoiceOf}.
 * CodeVision's rule for options (arXiv:2512.03746, public code), extended by the option's text.
 */
export const multipleChoice = defineVerifier({
  name: 'multiple-choice',
  description: 'The same option, by letter or text.',
  paper: 'rule of arXiv:2512.03746, public code',
  settings,
  verify(answer, expected, { options }) {
    const texts = options.map(plainText);
    const read = (text: string): Choice =>
      texts.length === 0 ? choiceIn(text) : completed(text, texts);
    return score(read(answer), read(expected));
  },
});

/** `multipleChoice` with the options known. */
export function multipleChoiceOf(options: readonly string[]): VerifierUnit {
  return multipleChoice.with({ options });
}

/** A choice with its letter and its text, where one of them names an option. */
function completed(text: string, texts: readonly string[]): Choice {
  const choice = choiceIn(text);
  const byText = texts.indexOf(plainText(text));
  if (byText >= 0) return { letter: letterAt(byText), text: texts[byText] ?? '' };
  if (choice.letter !== undefined) {
    const known = texts[choice.letter.charCodeAt(0) - 97];
    return { letter: choice.letter, text: known ?? choice.text };
  }
  const index = texts.indexOf(choice.text);
  return index < 0 ? choice : { letter: letterAt(index), text: choice.text };
}

const letterAt = (index: number): string => String.fromCharCode(97 + index);

function score(a: Choice, e: Choice): number {
  if (a.letter !== undefined && e.letter !== undefined) {
    // Saying one letter and the text of another option is not an answer.
    const disagree = a.text !== '' && e.text !== '' && a.text !== e.text;
    return a.letter === e.letter && !disagree ? 1 : 0;
  }
  return a.text !== '' && a.text === e.text ? 1 : 0;
}

const lettered =
  /^(?:(?:the\s+)?(?:correct\s+)?(?:answer|option|choice)\s*(?:is)?\s*:?\s*)?(?:\(([a-j])\)|\[([a-j])\]|([a-j])(?=$|[.:)]\s*|\s+[-–—]\s+))[.:)]*\s*(?:[-–—]\s+)?(.*)$/;

function choiceIn(text: string): Choice {
  const plain = plainText(text.replace(/\\text\w*\s*\{([^{}]*)\}/g, '$1').replace(/\*\*/g, ''));
  const match = lettered.exec(plain);
  if (match === null) return { text: plain };
  const [, round, square, bare, rest = ''] = match;
  const letter = round ?? square ?? bare;
  return letter === undefined ? { text: plain } : { letter, text: rest.trim() };
}
