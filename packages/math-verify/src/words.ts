/** Letters: functions, constants, symbols with their subscripts, products of symbols. */
import { type MathParser, symbol } from './cursor.ts';
import type { Expression } from './expression.ts';
import { parseFunction } from './functions.ts';
import { functionNames, greek } from './names.ts';
import { NotMathematics } from './tokens.ts';

/** Letters in a row: a function, a constant, or a product of symbols. */
export function parseWord(parser: MathParser, word: string): Expression {
  const name = Object.hasOwn(functionNames, word) ? functionNames[word] : undefined;
  if (name !== undefined && word.length > 1) return parseFunction(parser, name);
  if (word === 'pi' || word === 'Pi') return { kind: 'constant', name: 'pi' };
  if (/^(?:inf|infinity|infty|oo)$/i.test(word)) return { kind: 'constant', name: 'infinity' };
  if (greek.has(word)) return withSubscript(parser, word);
  if (word === 'R' && parser.peek() === undefined) return symbol('R');
  if (word.length > 4) return withSubscript(parser, word);
  const letters = [...word];
  const parts = letters.map((letter, index) => {
    if (index === letters.length - 1) return withSubscript(parser, letter);
    return letterOf(letter);
  });
  // The power belongs to the last letter alone: ab² = a·(b²).
  const last = parts.pop();
  if (last === undefined) throw new NotMathematics('empty word');
  if (parts.length === 0) return last;
  let end = last;
  if (parser.isSign('^', '**') && parser.peek(1)?.text !== 'circ') {
    parser.next();
    const isNegative = parser.isSign('-');
    if (isNegative) parser.next();
    const exponent = parser.argument();
    end = {
      kind: 'power',
      base: last,
      exponent: isNegative ? { kind: 'negate', of: exponent } : exponent,
    };
  }
  return { kind: 'product', factors: [...parts, end] };
}

function letterOf(letter: string): Expression {
  if (letter === 'e') return { kind: 'constant', name: 'e' };
  if (letter === 'i') return { kind: 'constant', name: 'i' };
  return symbol(letter);
}

/** `x_1`, `x_{12}`, `a_{max}`: the subscript is part of the name. Primes too. */
export function withSubscript(parser: MathParser, name: string): Expression {
  let full = name;
  if (parser.isSign('_')) {
    parser.next();
    const token = parser.next();
    if (token.kind === 'sign' && token.text === '{') {
      let depth = 1;
      let inner = '';
      while (depth > 0) {
        const part = parser.next();
        if (part.kind === 'sign' && part.text === '{') depth++;
        if (part.kind === 'sign' && part.text === '}') depth--;
        if (depth > 0) inner += part.text;
      }
      full += `_${inner}`;
    } else full += `_${token.text}`;
  }
  while (parser.isSign("'") || (parser.isSign('^') && parser.peek(1)?.text === 'prime')) {
    if (parser.next().text === '^') parser.next();
    full += "'";
  }
  if (full !== name) return symbol(full);
  return name.length === 1 ? letterOf(name) : symbol(name);
}
