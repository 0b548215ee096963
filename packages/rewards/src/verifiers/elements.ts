/** Lists as people and models write them: `[2016, Ohio]`, `['a, b', 'c']`, `["a"]`. */

/**
 * The elements of a list in brackets; the text itself where it is none. Commas divide, but for those in
 * quotes, brackets and parentheses; quotes around an element are not part of it.
 *
 * Takes time in proportion to the text.
 */
export function elementsOf(text: string): readonly string[] {
  const plain = text.trim();
  if (!plain.startsWith('[') || !plain.endsWith(']')) return [text];
  const inner = plain.slice(1, -1);
  const parts = (divided(inner) ?? inner.split(',')).map((part) => part.trim());
  // As in Python, a comma may stand behind the last element.
  if (parts.length > 1 && parts.at(-1) === '') parts.pop();
  return parts.includes('') ? [text] : parts.map(withoutQuotes);
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' };

/** Parts between commas; undefined where a quote, a bracket or a parenthesis is never closed. */
function divided(text: string): string[] | undefined {
  const parts: string[] = [];
  const open: string[] = [];
  let [from, quote, isBlank] = [0, '', true];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (quote !== '') {
      if (character === '\\') at++;
      else if (character === quote && endsElement(text, at + 1)) quote = '';
    } else if (character === ',' && open.length === 0) {
      parts.push(text.slice(from, at));
      [from, isBlank] = [at + 1, true];
    } else if (isBlank && (character === '"' || character === "'")) {
      [quote, isBlank] = [character, false];
    } else {
      const closing = CLOSING[character];
      if (closing !== undefined) open.push(closing);
      else if (character === open.at(-1)) open.pop();
      isBlank &&= /\s/.test(character);
    }
  }
  parts.push(text.slice(from));
  return open.length === 0 && quote === '' ? parts : undefined;
}

const END = /\s*(?:,|$)/y;

/** Whether a comma or nothing follows: an apostrophe within a word ends nothing. */
function endsElement(text: string, at: number): boolean {
  END.lastIndex = at;
  return END.test(text);
}

function withoutQuotes(part: string): string {
  const [, , inner] = /^(["'])(.*)\1$/s.exec(part) ?? [];
  return inner === undefined ? part : inner.replace(/\\(["'\\])/g, '$1').trim();
}
