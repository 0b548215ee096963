/** Tags and fences in what models write, found in one pass; and in what programs print, escaped. */
import type { MessagePart } from '../protocol.ts';

/** The text between the last closing tag and the last opening one before it. */
export function lastBetween(text: string, open: string, close: string): string | undefined {
  const end = text.lastIndexOf(close);
  const start = end < 0 ? -1 : text.lastIndexOf(open, end);
  return start < 0 ? undefined : text.slice(start + open.length, end);
}

/** The texts between an opening tag and the next closing one, for all pairs in order. */
export function allBetween(text: string, open: string, close: string): readonly string[] {
  const found: string[] = [];
  for (let from = 0; ; ) {
    const start = text.indexOf(open, from);
    const end = start < 0 ? -1 : text.indexOf(close, start + open.length);
    if (end < 0) return found;
    found.push(text.slice(start + open.length, end));
    from = end + close.length;
  }
}

/** The contents of the last closed ```python fence. */
export function lastFence(text: string): string | undefined {
  return [...text.matchAll(/```python\s((?:(?!```).)*)```/gs)].at(-1)?.[1];
}

/** The contents of the first closed ```python fence. */
export function firstFence(text: string): string | undefined {
  return /```python\s((?:(?!```).)*)```/s.exec(text)?.[1];
}

export function fenced(code: string): string {
  return `\`\`\`python\n${code}\n\`\`\``;
}

/**
 * Makes `<` of these tags, opening and closing, `&lt;`: what a program prints cannot pass for the
 * protocol's own markup.
 *
 * @param tags as of a protocol: regular expressions without the brackets
 */
export function tagEscaper(tags: readonly string[]): (text: string) => string {
  const found = new RegExp(`<(?=\\s*(?:/\\s*)?(?:${tags.join('|')})\\b)`, 'gi');
  return (text) => text.replace(found, '&lt;');
}

/** A part of text. */
export function textPart(text: string): MessagePart {
  return { kind: 'text', text };
}

/** Neighboring texts as one: a boundary between parts must not become a token boundary. */
export function joinTexts(parts: readonly MessagePart[]): readonly MessagePart[] {
  const joined: MessagePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') {
      joined[joined.length - 1] = { kind: 'text', text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}
