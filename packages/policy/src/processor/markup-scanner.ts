/** Finds the markup of a rendered chat: the tokens that only a template may write. */

/** An entry of `added_tokens` in tokenizer.json. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Control tokens are special; others, such as `<tool_call>`, are words that are one token. */
  readonly special?: boolean;
  /** Whether it takes the white space before or after it. */
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
}

/** A piece of a rendered chat: plain text, or markup by name. */
export type Piece = { readonly text: string } | { readonly markup: string };

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

/** Splits text at markup. Where several could start, the longest is taken, as in tokenizers. */
export class MarkupScanner {
  /** The strings that are markup. */
  readonly markup: ReadonlySet<string>;
  readonly #pattern: RegExp;

  /**
   * @param added   the tokenizer's added tokens; those that are special are markup
   * @param others  markup that is not special, or not in the tokenizer at all
   */
  constructor(added: readonly AddedToken[], others: readonly string[]) {
    const special = added.filter((token) => token.special === true).map(({ content }) => content);
    this.markup = new Set([...special, ...others].filter((name) => name !== ''));
    // Words that are one token take part, so that markup inside of one is not found.
    const names = new Set([...this.markup, ...added.map(({ content }) => content)]);
    const byLength = [...names].filter((name) => name !== '').sort((a, b) => b.length - a.length);
    this.#pattern = new RegExp(byLength.map(escaped).join('|') || '(?!)', 'g');
  }

  scan(text: string): Piece[] {
    const pieces: Piece[] = [];
    let start = 0;
    for (const match of text.matchAll(this.#pattern)) {
      if (!this.markup.has(match[0])) continue;
      if (match.index > start) pieces.push({ text: text.slice(start, match.index) });
      pieces.push({ markup: match[0] });
      start = match.index + match[0].length;
    }
    if (start < text.length) pieces.push({ text: text.slice(start) });
    return pieces;
  }
}
