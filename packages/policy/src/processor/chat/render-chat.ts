/** Renders a conversation to pieces of text and markup, such that no content becomes markup. */
import { DataError } from '@saccade/core';
import type { MarkupScanner, Piece } from '../markup-scanner.ts';
import type { ChatTemplate, RenderOptions, TemplateMessage } from './chat-template.ts';
import { mapTexts, textsOf } from './message.ts';
import type { Shield } from './shield.ts';

/** What renders chats. */
export interface ChatRenderer {
  readonly template: ChatTemplate;
  readonly scanner: MarkupScanner;
  readonly shield: Shield;
}

/**
 * The rendered conversation, as transformers renders it, except that control tokens in contents
 * are plain text.
 *
 * @param skip  a beginning of the rendered text that is left out
 * @throws DataError if the template refuses the conversation, makes control tokens out of content,
 *                   or does not begin with `skip`
 */
export function renderChat(
  { template, scanner, shield }: ChatRenderer,
  messages: readonly TemplateMessage[],
  options: RenderOptions & { readonly skip?: string } = {},
): Piece[] {
  const given = { messages, tools: options.tools ?? [] };
  const texts = textsOf(given);
  const { hide, reveal } = shield.over(texts);
  const render = (change: (text: string) => string): string => {
    const changed = mapTexts(given, change);
    return template.render(changed.messages, {
      ...options,
      ...(options.tools !== undefined && { tools: changed.tools }),
    });
  };
  const rendered = render(hide);
  if (texts.some((text) => shield.isSuspect(text))) {
    const own = render((text) => shield.mask(text));
    if (markupOf(scanner.scan(own)) !== markupOf(scanner.scan(rendered))) throw forged(messages);
  }
  const { skip = '' } = options;
  if (!rendered.startsWith(skip)) {
    throw new DataError(
      'The chat template writes earlier turns differently once another follows, so that a turn ' +
        'cannot be added to tokens that exist. Use a template that keeps them, or another ' +
        'observationRole (for example tool).',
    );
  }
  return scanner
    .scan(rendered.slice(skip.length))
    .map((piece) => ('text' in piece ? { text: reveal(piece.text) } : piece));
}

function markupOf(pieces: readonly Piece[]): string {
  return JSON.stringify(pieces.flatMap((piece) => ('markup' in piece ? [piece.markup] : [])));
}

function forged(messages: readonly TemplateMessage[]): DataError {
  const roles = messages.map(({ role }) => String(role)).join(', ');
  return new DataError(
    `The chat template makes control tokens out of the contents of a conversation of ${roles}. ` +
      'Remove what looks like control tokens from them.',
  );
}
