/** A conversation as tokens and back. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChatProcessor } from './chat-processor.ts';
import { encodeText, isText, textOf } from './text-tokens.ts';

const options = { pixelsPerToken: 784, maxTokens: 16 };

/** The head of a PNG file; nothing else of it is read. */
function png(width: number, height: number, salt = 0): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes.set([0x89, 0x50, 0x4e, 0x47]);
  new DataView(bytes.buffer).setUint32(16, width);
  new DataView(bytes.buffer).setUint32(20, height);
  bytes[31] = salt;
  return bytes;
}

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\u0000\u0000a', '\ud800', 'a\udfffb', '<|im_end|>', '😀', 'a\u0000'),
);

describe('text as tokens', () => {
  it('comes back unit for unit, whatever it is, and holds no control token', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const tokens = encodeText(text);
        expect(tokens.every((token) => isText(token) && token <= 0x7fffffff)).toBe(true);
        expect(tokens.map(textOf).join('')).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes as many tokens as four ASCII characters or one other character each', () => {
    expect(encodeText('abcdefghi')).toHaveLength(3);
    expect(encodeText('数字在哪里')).toHaveLength(5);
    expect(encodeText('a数b')).toHaveLength(3);
  });
});

describe('a context', () => {
  it('reads back as its messages, text by text and image by image', async () => {
    const part = fc.oneof(
      anyText.map((text) => ({ kind: 'text' as const, text })),
      fc
        .tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 }))
        .map(([w, h]) => ({
          kind: 'image' as const,
          bytes: png(w, h, w % 7),
        })),
    );
    const conversation = fc.record({
      system: fc.option(anyText.filter((text) => text !== '')),
      user: fc.array(part, { minLength: 1 }),
      turns: fc.array(fc.tuple(anyText, fc.boolean(), fc.array(part, { minLength: 1 }))),
    });
    await fc.assert(
      fc.asyncProperty(conversation, async ({ system, user, turns }) => {
        const processor = new ChatProcessor(options);
        type Part = (typeof user)[number];
        const prepare = (parts: readonly Part[]) =>
          Promise.all(
            parts.map(async (one) =>
              one.kind === 'text'
                ? one
                : { kind: 'image' as const, image: await processor.prepareImage(one.bytes) },
            ),
          );
        const expected: { role: string; parts: unknown[] }[] = [];
        const expectParts = (role: string, parts: readonly Part[]): void => {
          const merged: ({ kind: 'text'; text: string } | { kind: 'image'; png: Uint8Array })[] =
            [];
          for (const one of parts) {
            const last = merged.at(-1);
            if (one.kind === 'image') merged.push({ kind: 'image', png: one.bytes });
            else if (last?.kind === 'text') last.text += one.text;
            else if (one.text !== '') merged.push({ ...one });
          }
          expected.push({ role, parts: merged });
        };
        if (system !== null) expectParts('system', [{ kind: 'text', text: system }]);
        expectParts('user', user);
        const first = processor.encodePrompt(await prepare(user), system ?? undefined);
        const tokens = [...first.tokens];
        const images = [...first.images];
        for (const [text, ends, observed] of turns) {
          tokens.push(...processor.encodeModelText(text, ends));
          if (text !== '') expectParts('assistant', [{ kind: 'text', text }]);
          const message = processor.encodeObservation(await prepare(observed), ends);
          tokens.push(...message.tokens);
          images.push(...message.images);
          expectParts('user', observed);
        }
        expect(processor.messagesOf(Int32Array.from(tokens), images)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('of another processor is refused in words', async () => {
    const processor = new ChatProcessor(options);
    const image = await processor.prepareImage(png(56, 56));
    const { tokens } = processor.encodePrompt([{ kind: 'image', image }]);
    expect(() => processor.messagesOf(tokens, [{ ...image }])).toThrow(/did not make/);
    expect(() => processor.messagesOf(Int32Array.of(17), [])).toThrow(/token 17/);
    expect(() => processor.messagesOf(tokens, [])).toThrow(/an image/);
  });
});

describe('an image', () => {
  it('counts by its pixels, within bounds, and is sent as it is', async () => {
    const processor = new ChatProcessor(options);
    const counts = await Promise.all(
      [png(28, 28), png(56, 28), png(1, 1), png(4000, 4000)].map((bytes) =>
        processor.prepareImage(bytes),
      ),
    );
    expect(counts.map(({ tokenCount }) => tokenCount)).toEqual([1, 2, 1, 16]);
  });

  it('is shrunk before it is sent, if that is asked for', async () => {
    const { default: sharp } = await import('sharp');
    const large = await sharp({
      create: { width: 400, height: 100, channels: 3, background: '#123456' },
    })
      .jpeg()
      .toBuffer();
    const processor = new ChatProcessor({ ...options, maxPixels: 2500 });
    const image = await processor.prepareImage(new Uint8Array(large));
    expect([image.width, image.height]).toEqual([100, 25]);
    const { tokens, images } = processor.encodePrompt([{ kind: 'image', image }]);
    const [message] = processor.messagesOf(tokens, images);
    const [part] = message?.parts ?? [];
    const sent = part?.kind === 'image' ? await sharp(part.png).metadata() : undefined;
    expect([sent?.width, sent?.height, sent?.format]).toEqual([100, 25, 'png']);
    await expect(processor.prepareImage(Uint8Array.of(1, 2, 3))).rejects.toThrow(/cannot be read/);
  });
});
