/** Cuts normalized LaTeX or plain mathematics into tokens. */

export interface Token {
  readonly kind: 'number' | 'word' | 'command' | 'sign';
  /** A command without its backslash. */
  readonly text: string;
  readonly hasSpaceBefore: boolean;
}

/** Thrown for text that cannot be read as mathematics. Caught where parsing began. */
export class NotMathematics extends Error {}

const space = /\s+/y;
const command = /\\([a-zA-Z]+|.)/sy;
const word = /[A-Za-z]+/y;
const plainNumber = /(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+(?![A-Za-z\d]))?/y;
/** `1,234,567.8` and `1 234`; only where a comma cannot separate items. */
const groupedNumber = /[1-9]\d{0,2}(?:(?:,\d{3})+|(?: \d{3})+)(?!\d)(?:\.\d+)?/y;
const operator = /\*\*|<=|>=|!=|==|=>|->|[^\s\\A-Za-z\d]/y;

/** More tokens than any answer has. */
const maxTokens = 1500;

export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let depth = 0;
  let hasSpaceBefore = false;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return undefined;
    at += match[0].length;
    return match;
  };
  const push = (kind: Token['kind'], body: string): void => {
    tokens.push({ kind, text: body, hasSpaceBefore });
    hasSpaceBefore = false;
  };
  while (at < text.length) {
    if (tokens.length > maxTokens) throw new NotMathematics('too long');
    if (take(space)) {
      hasSpaceBefore = true;
      continue;
    }
    const grouped = depth === 0 ? take(groupedNumber) : undefined;
    const number = grouped ?? take(plainNumber);
    if (number) {
      push('number', number[0].replace(/[, ]/g, ''));
      continue;
    }
    const escaped = take(command);
    if (escaped) {
      const name = escaped[1] ?? '';
      if (name === '{') depth++;
      if (name === '}') depth--;
      push('command', name);
      continue;
    }
    const letters = take(word);
    if (letters) {
      push('word', letters[0]);
      continue;
    }
    const sign = take(operator)?.[0];
    if (sign === undefined) throw new NotMathematics(`unreadable at ${at}`);
    if ('([{'.includes(sign)) depth++;
    if (')]}'.includes(sign)) depth--;
    push('sign', sign);
  }
  return tokens;
}
