/** How a chat template ends an assistant's turn, and what it writes before the assistant's text. */
import { UnsupportedError } from '@saccade/core';
import type { MarkupScanner } from '../markup-scanner.ts';
import type { ChatTemplate, TemplateMessage } from './chat-template.ts';

/** Words without markup or white space, which no template changes. */
const QUESTION = 'saccadequestion';
const THOUGHT = 'saccadethought';
const ANSWER = 'saccadeanswer';

/** The marks that a template puts around an assistant's turn. */
export interface TurnMarkup {
  /** A conversation of a question and an answer. */
  readonly base: readonly TemplateMessage[];
  /** It as the template writes it, up to the end of the assistant's turn. */
  readonly rendered: string;
  /** The control token that ends the assistant's turn. */
  readonly endOfTurn: string;
  /** Plain text between the header for new answers and an answer, such as the space of `: `. */
  readonly lead: string;
  /** Whether an answer stands where the header for new answers ends. */
  readonly followsHeader: boolean;
}

/**
 * @throws DataError         if the template refuses a question and an answer
 * @throws UnsupportedError  if it does not end an answer with a control token
 */
export function readTurnMarkup(template: ChatTemplate, scanner: MarkupScanner): TurnMarkup {
  const header = template.render([message('user', QUESTION)], { addGenerationPrompt: true });
  const plain = readTurn(template, scanner, header, ANSWER);
  if (plain.followsHeader) return plain;
  // Templates of thinking models open the thoughts in the header, and close them in the answer.
  const opening = header.slice(commonLength(header, plain.rendered));
  const answer = `${opening}${THOUGHT}\n</think>\n\n${ANSWER}`;
  const thinking = readTurn(template, scanner, header, answer);
  return thinking.followsHeader ? { ...thinking, lead: '' } : { ...plain, lead: '' };
}

function message(role: string, text: string): TemplateMessage {
  return { role, content: [{ type: 'text', text }] };
}

function readTurn(
  template: ChatTemplate,
  scanner: MarkupScanner,
  header: string,
  answer: string,
): TurnMarkup {
  const base = [message('user', QUESTION), message('assistant', answer)];
  const whole = template.render(base);
  const at = whole.lastIndexOf(ANSWER);
  const [end] = at < 0 ? [] : scanner.scan(whole.slice(at + ANSWER.length));
  if (end === undefined || !('markup' in end)) {
    throw new UnsupportedError(
      'The chat template does not end the assistant’s turn with a control token. Use a template ' +
        'that does, such as ChatML.',
    );
  }
  const rendered = whole.slice(0, at + ANSWER.length + end.markup.length);
  const lead = rendered.slice(header.length, at);
  const isPlain = scanner.scan(lead).every((piece) => 'text' in piece);
  const followsHeader = rendered.startsWith(header) && isPlain;
  return { base, rendered, endOfTurn: end.markup, lead, followsHeader };
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
