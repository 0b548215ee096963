import { describe, expect, it } from 'vitest';
import { TextCodec } from '../processor/text-codec.ts';
import { trainTokenizer } from '../processor/train-tokenizer.ts';
import { tinyProcessor } from '../tiny-policy.fixture.ts';
import { StopMatcher } from './stop-matcher.ts';

const { codec } = tinyProcessor;

/** Index of the token that completes a stop string, or −1. */
function stopsAt(text: string, stops: readonly string[]): number {
  const matcher = new StopMatcher(stops, codec);
  // One byte a token, so that every character may be cut.
  const tokens = [...new TextEncoder().encode(text)].flatMap((byte) =>
    byte < 128 ? codec.encode(String.fromCharCode(byte)) : [byteToken(byte)],
  );
  return tokens.findIndex((token) => matcher.push(token));
}

function byteToken(byte: number): number {
  for (let id = 0; id < codec.vocabSize; id++) {
    const bytes = codec.bytesOf(id);
    if (bytes.length === 1 && bytes[0] === byte) return id;
  }
  return -1;
}

describe('StopMatcher', () => {
  it('finds a stop string over token borders, at its last byte', () => {
    expect(stopsAt('x = 1</code> more', ['</code>'])).toBe(11);
    expect(stopsAt('</cod</code>', ['</answer>', '</code>'])).toBe(11);
    expect(stopsAt('</cod e>', ['</code>'])).toBe(-1);
  });

  it('finds characters of several bytes and one-byte stops', () => {
    expect(stopsAt('a→b', ['→'])).toBe(3);
    expect(stopsAt('a→b', ['b'])).toBe(4);
    expect(stopsAt('é', ['è'])).toBe(-1);
  });

  it('never stops without stop strings', () => {
    expect(stopsAt('anything', [])).toBe(-1);
  });

  it('finds a stop string inside one long token', () => {
    const long = new TextCodec(trainTokenizer(['abcdef abcdef abcdef'], 269));
    const [token, ...rest] = long.encode('abcdef');
    expect(rest).toEqual([]);
    expect(new StopMatcher(['cd'], long).push(token ?? -1)).toBe(true);
    expect(new StopMatcher(['dc'], long).push(token ?? -1)).toBe(false);
  });
});
