/** Terms of a formal language such as `Equal(LengthOfLine(AB),2*x+1)`: reading and writing. */
import { CdlError } from './errors.ts';

export type Term =
  | { readonly kind: 'number'; readonly value: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly of: readonly Term[] };

const maxLength = 2000;
const maxDepth = 40;

/** Operators by how tightly they bind, and the call that each becomes. */
const operators: Readonly<Record<string, { readonly level: number; readonly name: string }>> = {
  '+': { level: 1, name: 'Add' },
  '-': { level: 1, name: 'Sub' },
  '*': { level: 2, name: 'Mul' },
  '/': { level: 2, name: 'Div' },
  '^': { level: 4, name: 'Pow' },
};

const tokenPattern =
  /\s*(?:(\d+(?:\.\d+)?|\.\d+)|(\\?[A-Za-z_][A-Za-z0-9_]*'*)|([-+*/^(),{}√π°]))/y;

/**
 * Reads one term. Arithmetic may be infix, `2x` is a product, and LaTeX's `\sqrt{3}`, `\frac{1}{2}`,
 * `\pi` and `^\circ` are understood.
 *
 * @throws CdlError saying where it ends being a term
 */
export function readTerm(text: string): Term {
  if (text.length > maxLength) {
    throw new CdlError(`A statement has ${text.length} characters, more than ${maxLength}.`);
  }
  const reader = new TermReader(tokenize(text), text);
  const term = reader.expression(1, 0);
  reader.expectEnd();
  return term;
}

function tokenize(text: string): readonly string[] {
  const plain = text
    .trim()
    .replace(/\.$/, '')
    .replaceAll(/\^\s*\{?\\circ\}?|°|\\degree/g, '')
    .replaceAll(/[−–]/g, '-')
    .replaceAll(/[×·]|\\times|\\cdot/g, '*')
    .replaceAll('÷', '/');
  const tokens: string[] = [];
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < plain.length) {
    const at = tokenPattern.lastIndex;
    const match = tokenPattern.exec(plain);
    if (match === null) {
      if (plain.slice(at).trim() === '') break;
      throw new CdlError(`"${text}" cannot be read from "${plain.slice(at, at + 12)}" on.`);
    }
    tokens.push(match[0].trim());
  }
  return tokens;
}

class TermReader {
  private position = 0;
  private readonly tokens: readonly string[];
  private readonly text: string;

  constructor(tokens: readonly string[], text: string) {
    this.tokens = tokens;
    this.text = text;
  }

  expectEnd(): void {
    if (this.position < this.tokens.length) this.fail();
  }

  expression(level: number, depth: number): Term {
    if (depth > maxDepth) throw new CdlError(`"${this.text}" is nested too deeply.`);
    let left = this.prefixed(depth);
    for (;;) {
      const token = this.tokens[this.position];
      const operator = token === undefined ? undefined : operators[token];
      if (operator !== undefined && operator.level >= level) {
        this.position++;
        // A power groups to the right, the others to the left.
        const next = operator.level === 4 ? operator.level : operator.level + 1;
        left = call(operator.name, left, this.expression(next, depth + 1));
      } else if (level <= 3 && token !== undefined && /^[A-Za-z0-9.\\({√π]/.test(token)) {
        left = call('Mul', left, this.expression(4, depth + 1));
      } else {
        return left;
      }
    }
  }

  private prefixed(depth: number): Term {
    const token = this.take();
    if (token === '-') return call('Neg', this.expression(3, depth + 1));
    if (token === '+') return this.expression(3, depth + 1);
    if (token === '√') return call('Sqrt', this.expression(4, depth + 1));
    if (token === 'π' || token === '\\pi' || token === 'pi') return { kind: 'name', name: 'pi' };
    if (token === '(' || token === '{') {
      const inner = this.expression(1, depth + 1);
      this.expect(token === '(' ? ')' : '}');
      return inner;
    }
    if (/^[\d.]/.test(token)) return { kind: 'number', value: token };
    if (/^\\?[A-Za-z_]/.test(token)) return this.named(token, depth);
    return this.fail();
  }

  private named(token: string, depth: number): Term {
    if (token === '\\sqrt') return call('Sqrt', this.prefixed(depth + 1));
    if (token === '\\frac') {
      return call('Div', this.prefixed(depth + 1), this.prefixed(depth + 1));
    }
    const name = token.replace(/^\\/, '');
    // A bracket after a single small letter multiplies, as in x(x + 1).
    if (this.tokens[this.position] !== '(' || /^[a-z]$/.test(name)) return { kind: 'name', name };
    this.position++;
    const of: Term[] = [];
    if (this.tokens[this.position] === ')') {
      this.position++;
      return { kind: 'call', name, of };
    }
    do of.push(this.expression(1, depth + 1));
    while (this.takeIf(','));
    this.expect(')');
    return { kind: 'call', name, of };
  }

  private take(): string {
    const token = this.tokens[this.position];
    if (token === undefined) return this.fail();
    this.position++;
    return token;
  }

  private takeIf(token: string): boolean {
    if (this.tokens[this.position] !== token) return false;
    this.position++;
    return true;
  }

  private expect(token: string): void {
    if (!this.takeIf(token)) this.fail();
  }

  private fail(): never {
    const found = this.tokens[this.position];
    const where = found === undefined ? 'It ends too early' : `"${found}" does not belong there`;
    throw new CdlError(`"${this.text}" is no statement. ${where}.`);
  }
}

function call(name: string, ...of: readonly Term[]): Term {
  return { kind: 'call', name, of };
}
