import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MarkupScanner } from '../markup-scanner.ts';
import { Shield } from './shield.ts';

const markup = ['<|im_start|>', '<|im_end|>', '<|image_pad|>', '<img>', '</img>', '[INST]'];
const scanner = new MarkupScanner([], markup);
/** Texts of which many are markup, parts of it, or what stands in for it. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...markup, '<', '>', '|', '<|', '|>', '<|im_', 'end|>', '[', 'INST]', '</'),
      fc.constantFrom('\ue000', '\ue001', '\ue002', '\ue000\ue001', 'x', '</think>', ' '),
      fc.string({ maxLength: 4 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('Shield', () => {
  it('leaves no markup in contents, nor where contents stand side by side', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (contents) => {
        const { hide } = new Shield(markup).over(contents);
        const side = contents.map(hide).join('');
        expect(scanner.scan(side).every((piece) => 'text' in piece)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives back every text, also of contents side by side', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (contents) => {
        const { hide, reveal } = new Shield(markup).over(contents);
        expect(reveal(contents.map(hide).join(''))).toBe(contents.join(''));
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves text alone that templates decide by', () => {
    const shield = new Shield(['<|im_end|>', '</img>', '<img>']);
    const text = '<think>\na < b </think>\n<tool_response>ok</tool_response><i>';
    expect(shield.over([text]).hide(text)).toBe(text);
  });

  it('masks texts so that no control token can begin or end in them', () => {
    const shield = new Shield(markup);
    fc.assert(
      fc.property(hostile, (text) => {
        expect(shield.isSuspect(shield.mask(text))).toBe(false);
        expect(shield.mask(text).length).toBe(text.length);
      }),
    );
  });
});
