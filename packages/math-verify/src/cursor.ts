/** The parser as its parts see it, and what several of them need. */
import type { Expression } from './expression.ts';
import type { Token } from './tokens.ts';

export interface MathParser {
  peek(ahead?: number): Token | undefined;
  /** @throws NotMathematics at the end */
  next(): Token;
  position(): number;
  rewind(position: number): void;
  isSign(...texts: readonly string[]): boolean;
  isCommand(...names: readonly string[]): boolean;
  expectSign(text: string): void;
  relation(): Expression;
  expression(): Expression;
  /** A factor with its power. */
  factor(): Expression;
  /** One thing that stands alone. */
  primary(): Expression;
  /** The argument of a command, a power or an index: `{…}`, or one thing without braces. */
  argument(): Expression;
}

export function symbol(name: string): Expression {
  return { kind: 'symbol', name };
}

export function numberOf(text: string): Expression {
  const isDecimal = text.includes('.') || /e-/i.test(text);
  return { kind: 'number', value: Number(text), text, isDecimal };
}

/** After an opening sign: what stands between commas or semicolons, the closing sign not read. */
export function parseItems(parser: MathParser): readonly Expression[] {
  const items = [parser.relation()];
  while (parser.isSign(',', ';')) {
    parser.next();
    items.push(parser.relation());
  }
  return items;
}
