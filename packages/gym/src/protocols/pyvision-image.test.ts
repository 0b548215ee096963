import type { CapturedImage, Outcome } from '@saccade/sandbox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MessagePart } from '../protocol.ts';
import type { Task } from '../task.ts';
import { pyvisionImage, pyvisionImageShort, pyvisionImageWith } from './pyvision-image.ts';

const task: Task = {
  id: 'photo',
  question: 'What is on the sign?',
  images: [{ name: 'image_clue_0', png: Uint8Array.of(1), width: 1200, height: 800 }],
  answer: 'stop',
  metadata: {},
};

const ran: Outcome = {
  kind: 'ok',
  stdout: '',
  stderr: '',
  images: [],
  truncated: [],
  wallMs: 1,
  cpuMs: 1,
  maxRssKb: 1,
  tier: 'process',
};

const crop: CapturedImage = {
  png: Uint8Array.of(2),
  width: 56,
  height: 56,
  source: 'image',
  origin: { image: 'image_clue_0', map: [1, 0, 10, 0, 1, 20] },
};

/** The message as one string; images as [name]. */
function flat(parts: readonly MessagePart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : `[${part.name}]`)).join('');
}

const code = (body: string): string => `<code>\n\`\`\`python\n${body}\n\`\`\`\n</code>`;

describe('pyvision-image', () => {
  it('stops at the end of code and opens with one user turn', () => {
    expect(pyvisionImage.stop).toEqual(['</code>']);
    expect(pyvisionImage.prompt(task)).not.toHaveProperty('system');
  });

  it('gives the full prompt what the published template has, in its order', () => {
    const text = flat(pyvisionImage.prompt(task).user);
    const marks = [
      'agent',
      'step by step',
      'image_clue_0',
      'plt.show()',
      'print()',
      '<interpreter>',
      '<code>\n```python',
      '<answer>\n\\boxed{',
      'Image Width: 1200; Image Height: 800',
      'Question: What is on the sign?',
      '<image_clue_0>[image_clue_0]</image_clue_0>',
    ];
    const found = marks.filter((mark) => text.includes(mark));
    expect(found).toEqual(marks);
    const order = ['agent', 'step by step', '<code>', '<answer>', 'Image Width', 'Question:', '['];
    const places = order.map((mark) => text.indexOf(mark));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('gives the short prompt the image and the question alone', () => {
    expect(flat(pyvisionImageShort.prompt(task).user)).toBe(
      '<image_clue_0>[image_clue_0]</image_clue_0>\nWhat is on the sign?',
    );
  });

  it('writes observations to the letter, and numbers images on', () => {
    const outcome = { ...ran, stdout: '  42\n', images: [crop, { ...crop, width: 9 }] };
    const parts = pyvisionImage.observe(outcome, { imageIndex: 3, callsLeft: 1 });
    expect(flat(parts)).toBe(
      '<tool_response>\n<interpreter>Text Result:\n42\nImage Result:\n' +
        '<image_clue_3>[image_clue_3]</image_clue_3><image_clue_4>[image_clue_4]</image_clue_4>' +
        '</interpreter>\n\n</tool_response>',
    );
    expect(parts[1]).toEqual({
      kind: 'image',
      name: 'image_clue_3',
      png: crop.png,
      width: 56,
      height: 56,
      origin: crop.origin,
    });
    // Two texts in a row would be tokenized apart.
    parts.forEach((part, i) => {
      expect(part.kind === 'text' && parts[i + 1]?.kind === 'text').toBe(false);
    });
  });

  it.each(['exception', 'timeout', 'memory', 'forbidden', 'crashed'] as const)(
    'ends after %s, or says so and goes on where that is asked for',
    (kind) => {
      const failed: Outcome = {
        ...ran,
        kind,
        stdout: 'before',
        error: { type: 'ValueError', message: 'too wide', traceback: 'ValueError: too wide' },
      };
      const patient = pyvisionImageWith('patient', { prompt: 'short', onError: 'continue' });
      expect(pyvisionImage.endsOn(failed)).toBe('toolError');
      expect(patient.endsOn(failed)).toBeUndefined();
      expect(flat(patient.observe(failed, { imageIndex: 1, callsLeft: 1 }))).toMatch(
        /before.*ValueError: too wide/s,
      );
    },
  );

  it('ends after code that gave nothing, not after text or an image', () => {
    expect(pyvisionImage.endsOn(ran)).toBe('toolError');
    expect(pyvisionImage.endsOn({ ...ran, stdout: ' \n' })).toBe('toolError');
    expect(pyvisionImage.endsOn({ ...ran, stdout: '0' })).toBeUndefined();
    expect(pyvisionImage.endsOn({ ...ran, images: [crop] })).toBeUndefined();
  });
});

describe('parse', () => {
  const { parse } = pyvisionImage;

  it.each<[string, string, ReturnType<typeof parse>]>([
    ['tagged code', `Look.\n${code('x = 1')}`, { kind: 'code', code: 'x = 1\n' }],
    ['the last tagged block', code('a') + code('b'), { kind: 'code', code: 'b\n' }],
    [
      'a tagged block before a bare one',
      `${code('a')}\n\`\`\`python\nb\n\`\`\``,
      { kind: 'code', code: 'a\n' },
    ],
    ['the last bare fence', '```python\na\n```\n```python\nb\n```', { kind: 'code', code: 'b\n' }],
    ['indented code as it is', code('if x:\n  y()'), { kind: 'code', code: 'if x:\n  y()\n' }],
    ['an answer before code', `${code('a')}<answer>7</answer>`, { kind: 'answer', answer: '7' }],
    ['an answer, its space aside', '<answer>\n 7 \n</answer>', { kind: 'answer', answer: '7' }],
    ['the last answer', '<answer>1</answer><answer>2</answer>', { kind: 'answer', answer: '2' }],
    [
      'no code in an open fence',
      '<code>\n```python\nx',
      { kind: 'invalid', reason: 'noCodeNorAnswer' },
    ],
    ['no other language', '```js\nx\n```', { kind: 'invalid', reason: 'noCodeNorAnswer' }],
    ['no half answer', '<answer>7', { kind: 'invalid', reason: 'noCodeNorAnswer' }],
  ])('finds %s', (_, text, action) => {
    expect(parse(text)).toEqual(action);
  });

  const markup = fc.constantFrom(
    '<code>',
    '</code>',
    '```python\n',
    '```',
    '<answer>',
    '</answer>',
    '\\boxed{',
    '}',
    '\n',
    ' ',
    'x',
    '\ud800',
  );
  const anyTurn = fc.array(fc.oneof(markup, fc.string()), { maxLength: 40 }).map((a) => a.join(''));

  it('gives one of three actions for any text, answers exactly where a pair of tags stands', () => {
    fc.assert(
      fc.property(anyTurn, (text) => {
        const action = parse(text);
        const end = text.lastIndexOf('</answer>');
        const hasAnswer = end >= 0 && text.slice(0, end).includes('<answer>');
        expect(action.kind === 'answer').toBe(hasAnswer);
        if (action.kind === 'code') expect(text).toContain(`\`\`\`python`);
        if (action.kind === 'code') expect(text).toContain(action.code);
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it('gives back any code written in its form, whatever was said before', () => {
    const body = fc.string({ unit: 'grapheme' }).filter((text) => !/[`<]/.test(text));
    const said = fc.string().filter((text) => !/[`<]/.test(text));
    fc.assert(
      fc.property(said, body, (before, python) => {
        const action = parse(before + code(python));
        expect(action.kind).toBe('code');
        if (action.kind === 'code') expect(action.code.trim()).toBe(python.trim());
      }),
      { seed: 2, numRuns: 300 },
    );
  });

  it('reads a long hostile text in no time', () => {
    const before = process.cpuUsage();
    parse('<code>\n```python\n'.repeat(300));
    parse(`<code>\`\`\`python${'\n'.repeat(3000)}`);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });
});
