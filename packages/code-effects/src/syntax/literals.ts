/** The values of number and string literals in Python. */

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};

/** The text of a string literal with its prefix and quotes. */
export function readText(literal: string): string {
  const quoted = /^([a-zA-Z]*)('''|"""|'|")([\s\S]*)\2$/.exec(literal);
  if (quoted === null) return literal;
  const [, prefix = '', , body = ''] = quoted;
  return /r/i.test(prefix) ? body : unescapeText(body);
}

export function unescapeText(body: string): string {
  return body.replace(
    /\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[\s\S])/g,
    (whole: string, code: string) => {
      if (code.length > 1) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return escapes[code] ?? whole;
    },
  );
}

/** A number literal; NaN for imaginary ones. */
export function readNumber(literal: string): {
  readonly value: number;
  readonly isInteger: boolean;
} {
  const plain = literal.replaceAll('_', '');
  const isInteger = /^(0[xob][0-9a-f]+|\d+)$/i.test(plain);
  return { value: Number(plain), isInteger };
}
