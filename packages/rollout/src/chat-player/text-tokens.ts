/**
 * Text as tokens without a tokenizer, and back: nothing is lost, and about as many tokens as a
 * tokenizer would make.
 *
 * A token holds up to four ASCII characters or one other code point. Control tokens are numbers that
 * no text encodes to, so no text can forge a turn.
 */

/** Control tokens of a context: the end of a turn, headers of roles, and placeholders of images. */
export const mark = { end: 0, system: 1, user: 2, assistant: 3, image: 4 } as const;

const PACKED = 0x40000000;
const CODE_POINT = 0x20000000;
const PER_TOKEN = 4;

/** The tokens of a text. */
export function encodeText(text: string): number[] {
  const tokens: number[] = [];
  let packed = 0;
  let length = 0;
  const flush = (): void => {
    if (length > 0) tokens.push(PACKED + ((length - 1) << 28) + packed);
    packed = 0;
    length = 0;
  };
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (code < 0x80) {
      packed += code << (7 * length);
      if (++length === PER_TOKEN) flush();
      continue;
    }
    flush();
    tokens.push(CODE_POINT + code);
    if (code > 0xffff) at++;
  }
  flush();
  return tokens;
}

/** Whether a token is text. */
export function isText(token: number): boolean {
  return token >= CODE_POINT;
}

/** The text of one token that is text. */
export function textOf(token: number): string {
  if (token < PACKED) return String.fromCodePoint(token - CODE_POINT);
  const length = ((token >> 28) & 3) + 1;
  return String.fromCharCode(
    ...Array.from({ length }, (_, index) => (token >> (7 * index)) & 0x7f),
  );
}
