/** The cold start from a file: any format, in the words of the run’s protocol, ready to train on. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeImage, protocols, taskSets } from '@saccade/gym';
import { QwenProcessor, qwenImageProcessor, trainTokenizer } from '@saccade/policy';
import { ModelImages, packTrajectories } from '@saccade/rollout';
import { checkTrajectory, type Message } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { turnedCorpus } from './corpus.ts';
import { type FormatChoice, writeDialogs } from './dialog-formats.ts';
import type { DialogSample } from './formats/format.ts';
import { coldStarts } from './registry.ts';

const protocol = protocols.get('pyvision-image-short');
const other = protocols.get('codedance');
const given = coldStarts.get('given');
const processor = new QwenProcessor(trainTokenizer([...turnedCorpus(protocol)], 400), {
  ...{ ...qwenImageProcessor, minPixels: 28 * 28, maxPixels: 56 * 56 },
});
const pixels = Uint8Array.from({ length: 56 * 56 * 3 }, (_, i) => (i * 31) % 256);
const png = await encodeImage({ pixels, width: 56, height: 56 });

function sample(id: string, speaks: typeof protocol, answer = '7'): DialogSample {
  const image = { type: 'image' as const, image: png };
  const result = { kind: 'ok' as const, stdout: '', imageCount: 1 };
  const messages: Message[] = [
    { role: 'user', content: [image, { type: 'text', text: 'Which digit?' }] },
    { role: 'assistant', content: speaks.write({ kind: 'code', code: 'x.show()' }, 'I look.') },
    { role: 'user', content: [{ type: 'text', text: 'seen' }, image], result },
    { role: 'assistant', content: speaks.write({ kind: 'answer', answer }) },
  ];
  return { id, messages, tags: { question: 'Which digit?', isCorrect: answer === '7' } };
}

async function gather(path: string, settings: object) {
  const warnings: string[] = [];
  const [mixture] = await given.gather(given.settings.parse({ path, ...settings }), {
    ...{ protocol, processor, taskSet: taskSets.get('needle'), seed: 1, concurrency: 1 },
    makeEnv: () => Promise.reject(new Error('nothing is played')),
    images: new ModelImages(processor),
    onEvent: (event) => event.kind === 'warning' && warnings.push(event.message),
  });
  return { examples: mixture?.examples ?? [], warnings };
}

async function write(name: string, format: FormatChoice, samples: readonly DialogSample[]) {
  const path = join(mkdtempSync(join(tmpdir(), 'given-')), name);
  expect((await writeDialogs(path, format, samples)).refused).toEqual([]);
  return path;
}

describe('the cold start from a file', () => {
  for (const [format, name] of [
    ['saccade', 'a.jsonl'],
    ['openai', 'a.jsonl'],
    ['llama-factory', 'a.json'],
    ['ms-swift', 'a.jsonl'],
    ['verl', 'a.parquet'],
  ] as const) {
    it(`of ${format} gives the same tokens as any other, which train`, async () => {
      const path = await write(name, format, [sample('a', protocol)]);
      const { examples, warnings } = await gather(path, { format });
      expect(warnings).toEqual([]);
      const [example] = examples;
      if (example === undefined) throw new Error('nothing was given');
      checkTrajectory(example, { imageToken: processor.imageToken });
      expect(example.tokenSource).toBeUndefined();
      expect(example.segments.map(({ kind }) => kind)).toEqual([
        'prompt',
        'model',
        'observation',
        'model',
      ]);
      const model = example.segments.filter(({ kind }) => kind === 'model');
      expect(model.map(({ tokens }) => processor.decode(tokens))).toEqual([
        protocol.write({ kind: 'code', code: 'x.show()' }, 'I look.'),
        `${protocol.write({ kind: 'answer', answer: '7' })}<|im_end|>`,
      ]);
      const image = await new ModelImages(processor).prepare(png);
      const prompt = processor.encodePrompt([
        { kind: 'image', image },
        { kind: 'text', text: 'Which digit?' },
      ]);
      expect(example.segments[0]?.tokens).toEqual(prompt.tokens);
      const images = new ModelImages(processor);
      const { counts } = await packTrajectories([{ trajectory: example }], {
        images,
        maxTokens: 8192,
      });
      expect(counts.tokens).toBe(model.reduce((sum, { tokens }) => sum + tokens.length, 0));
    });
  }

  it('in the words of another protocol is rewritten', async () => {
    const path = await write('a.jsonl', { name: 'saccade', protocol: 'codedance' }, [
      sample('a', other),
    ]);
    const { examples } = await gather(path, { from: 'codedance' });
    expect(examples[0]?.turns.map(({ action }) => action.kind)).toEqual(['code', 'answer']);
    expect(examples[0]?.segments[1]?.text).toContain('</code>');
  });

  it('does not train on a turn that was got wrong on purpose, but shows it', async () => {
    const marked = sample('a', protocol);
    const path = await write('a.jsonl', 'saccade', [
      { ...marked, tags: { ...marked.tags, injectedTurn: 0 } },
    ]);
    const [example] = (await gather(path, {})).examples;
    expect(example?.segments.map(({ kind }) => kind)).toEqual(['prompt', 'model']);
    expect(example?.segments[0]?.text).toContain('x.show()');
    expect(example?.segments[0]?.images).toHaveLength(2);
    expect(example?.answer).toContain('7');
  });

  it('counts and names what cannot be expressed, and stops where that is too much', async () => {
    const path = await write(
      'a.jsonl',
      'openai',
      ['a', 'b', 'c'].map((id) => sample(id, protocol)),
    );
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    writeFileSync(path, [lines[0], '{"messages":3}', lines[2]?.replace('</code>', '')].join('\n'));
    const some = await gather(path, { format: 'openai', maxRefused: 0.5 });
    expect(some.examples).toHaveLength(2);
    expect(some.warnings).toEqual([
      expect.stringMatching(/1 of 3 rows .*a.jsonl:2: messages must be a list/),
    ]);
    await expect(gather(path, { format: 'openai', maxRefused: 0.1 })).rejects.toThrow(
      /raise coldStart.maxRefused/,
    );
    const wrong = await write('b.jsonl', 'saccade', [
      sample('a', protocol, '3'),
      sample('b', protocol),
    ]);
    expect((await gather(wrong, { onlyRight: 'yes' })).examples.map(({ id }) => id)).toEqual([
      'given/b',
    ]);
    await expect(gather(join(tmpdir(), 'none.jsonl'), { format: 'openai' })).rejects.toThrow(
      /cannot be read/,
    );
  });
});
