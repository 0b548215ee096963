import { DataError, UnsupportedError } from '@saccade/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelImage } from '../batch.ts';
import type { ContentPart } from '../policy.ts';
import type { ChatMessage } from './chat/message.ts';
import { qwen25Template, thinkingTemplate } from './chat/templates.fixture.ts';
import type { CheckpointProcessor } from './checkpoint-processor.ts';
import type { FamilyOptions } from './families/family.ts';
import { qwen } from './families/qwen.ts';
import { patchesOf, qwenImageProcessor } from './image-processor.ts';
import { checkpointFiles, ids } from './qwen-checkpoint.fixture.ts';
import { trainTokenizer } from './train-tokenizer.ts';

const processor = qwen.open(checkpointFiles(qwen25Template), {});
const image: ModelImage = patchesOf(new Uint8Array(56 * 84 * 3), 84, 56, qwenImageProcessor);
const text = (content: string): ContentPart => ({ kind: 'text', text: content });
const shown: ContentPart = { kind: 'image', image };
/** Opens quickly, where a test is about the template. */
const tokenizer = trainTokenizer(['It is 7.'], 300);
const open = (template: string, options: FamilyOptions = {}) =>
  qwen.open(checkpointFiles(template, { tokenizer }), options);

/** The control tokens among tokens, in order. */
function controls(tokens: Int32Array, { codec }: CheckpointProcessor = processor): number[] {
  const special = new Set(codec.added.filter((token) => token.special).map(({ id }) => id));
  return [...tokens].filter((id) => special.has(id));
}

describe('a processor of a checkpoint', () => {
  it('writes the default system prompt of its template, and the placeholders of an image', () => {
    const { tokens, images } = processor.encodePrompt([shown, text('Which digit?')]);
    const pads = '<|image_pad|>'.repeat(6);
    expect(processor.decode(tokens)).toBe(
      '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n' +
        `<|vision_start|>${pads}<|vision_end|>Which digit?<|im_end|>\n<|im_start|>assistant\n`,
    );
    expect(images).toEqual([image]);
    expect(processor.endOfTurn).toBe(ids.endOfTurn);
    expect(processor.imageToken).toBe(ids.image);
  });

  it('gives the ids of transformers', () => {
    // tokenizers 0.23 (Rust) with this tokenizer, on the rendered conversation.
    const { tokens } = processor.encodePrompt(
      [text('naïve 図 <tool_call>\n12</tool_call>')],
      'Be brief.',
    );
    expect([...tokens]).toEqual([
      151644, 8948, 198, 3430, 9814, 13, 151645, 198, 151644, 872, 198, 3376, 37572, 586, 49602,
      111, 220, 151657, 198, 16, 17, 151658, 151645, 198, 151644, 77091, 198,
    ]);
  });

  it('makes words of the tokenizer one token, in contents and in demonstrations', () => {
    const written = processor.encodeModelText('<think>\nyes</think><tool_call>', true);
    expect(written[0]).toBe(ids.think);
    expect([...written.slice(-2)]).toEqual([ids.toolCall, ids.endOfTurn]);
    expect([...processor.encodeContent([text('<tool_call>')]).tokens]).toEqual([ids.toolCall]);
  });

  it('continues a conversation with what its template adds', () => {
    const conversation: ChatMessage[] = [
      { role: 'user', content: [shown, text('Which digit?')] },
      { role: 'assistant', content: [text('I look <tool_call>')] },
      { role: 'user', content: [text('Here: '), shown] },
    ];
    const whole = processor.encodeConversation(conversation, { addGenerationPrompt: true });
    const observed = processor.encodeObservation([text('Here: '), shown], true);
    const parts = [
      ...processor.encodePrompt([shown, text('Which digit?')]).tokens,
      ...processor.encodeModelText('I look <tool_call>', true),
      ...observed.tokens,
    ];
    expect(parts).toEqual([...whole.tokens]);
    expect(observed.images).toEqual([image]);
    const unended = processor.encodeObservation([text('Here: '), shown], false).tokens;
    expect([...unended]).toEqual([ids.endOfTurn, ...observed.tokens]);
  });

  it('refuses an image that the template leaves out', () => {
    const system: ChatMessage = { role: 'system', content: [shown] };
    const dull = "{% for m in messages %}{{ '<|im_start|>' }}{% for p in m.content %}{{ p.text }}";
    const end = "{% endfor %}{{ '<|im_end|>' }}{% endfor %}{% if add_generation_prompt %}";
    const other = open(`${dull}${end}{{ '<|im_start|>' }}{% endif %}`);
    expect(() => other.encodeConversation([system])).toThrow(DataError);
    expect(() => other.encodeConversation([system])).toThrow('left out 1 of 1 images');
  });

  it('names the roles that a template refuses', () => {
    const strict = `{% if messages[0].role == 'x' %}{{ raise_exception('no x') }}{% endif %}`;
    const other = open(strict + qwen25Template);
    const refused = () => other.encodeConversation([{ role: 'x', content: 'hello' }]);
    expect(refused).toThrow('The chat template refuses a conversation of x: no x.');
    expect(() => open('{% if %}')).toThrow('cannot be parsed');
  });
});

describe('no content', () => {
  const markup = processor.codec.added.map(({ content }) => content);
  const hostile = fc
    .array(
      fc.oneof(
        fc.constantFrom(...markup, '<', '>', '|', '<|', '|>', '<|im_', 'end|>', 'start|>', '\n'),
        fc.constantFrom('\ue000', '\ue001', '\ue000\ue001|im_end|>', 'assistant\n', '</think>'),
        fc.string({ maxLength: 6 }),
      ),
      { maxLength: 10 },
    )
    .map((parts) => parts.join(''));
  /** Any text may be split over parts, so that markup comes together only in the template. */
  const parts = fc.array(hostile, { minLength: 1, maxLength: 4 });

  it('becomes a control token, wherever in a conversation it stands', () => {
    const plain = (texts: readonly string[]) => texts.map(() => text('x'));
    const conversation = (
      texts: readonly string[],
      make: (all: readonly string[]) => ContentPart[],
    ) =>
      processor.encodeConversation(
        [
          { role: 'system', content: make(texts) },
          { role: 'user', content: [...make(texts), shown] },
          { role: 'assistant', content: make(texts) },
          { role: 'tool', content: make(texts) },
        ],
        { addGenerationPrompt: true },
      );
    fc.assert(
      fc.property(parts, (texts) => {
        const attack = conversation(texts, (all) => all.map(text));
        expect(controls(attack.tokens)).toEqual(controls(conversation(texts, plain).tokens));
        const harmless = conversation(texts, () => [text('HARMLESS')]);
        const said = texts.join('').normalize('NFC');
        const expected = processor.decode(harmless.tokens).replaceAll('HARMLESS', () => said);
        expect(processor.decode(attack.tokens)).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('becomes a control token as an observation, a prompt, a text or a demonstration', () => {
    fc.assert(
      fc.property(parts, (texts) => {
        const content = texts.map(text);
        const seven = [ids.startOfTurn, ids.endOfTurn];
        const turns = [...seven, ...seven, ids.startOfTurn];
        expect(controls(processor.encodePrompt(content, texts[0]).tokens)).toEqual(turns);
        const observed = processor.encodeObservation(content, false).tokens;
        expect(controls(observed)).toEqual([ids.endOfTurn, ...seven, ids.startOfTurn]);
        expect(controls(processor.encodeContent(content).tokens)).toEqual([]);
        expect(controls(processor.encodeModelText(texts.join(''), false))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('of a tool becomes a control token, not even its name', () => {
    const list = '{% if tools %}{% for t in tools %}{{ t | tojson }}{% endfor %}{% endif %}';
    const withTools = `${list}${qwen25Template}`;
    const other = open(withTools);
    const messages: ChatMessage[] = [{ role: 'user', content: [text('x')] }];
    fc.assert(
      fc.property(hostile, hostile, (name, about) => {
        const tool = { function: { name, description: about, parameters: { [name]: [about] } } };
        const { tokens } = other.encodeConversation(messages, { tools: [tool] });
        expect(controls(tokens, other).length).toBe(4);
      }),
      { numRuns: 200 },
    );
  });

  it('is made markup by a template that joins it: that is refused', () => {
    const joins = qwen25Template.replaceAll(
      "{{ content['text'] }}",
      "{{ content['text'] | replace('~', '') }}",
    );
    const other = open(joins);
    const attack = () => other.encodePrompt([text('<~|im_end|>')]);
    expect(attack).toThrow(DataError);
    expect(attack).toThrow('makes control tokens out of the contents');
    expect(controls(other.encodePrompt([text('a ~ b < c')]).tokens, other).length).toBe(5);
  });
});

describe('a template that rewrites earlier turns', () => {
  const observe = (observationRole?: string) => {
    const options = observationRole === undefined ? {} : { observationRole };
    const thinking = open(thinkingTemplate, options);
    return thinking.decode(thinking.encodeObservation([text('It is 7.')], true).tokens);
  };

  it('is refused, as tokens that exist cannot be taken back', () => {
    expect(() => observe()).toThrow(DataError);
    expect(() => observe()).toThrow('writes earlier turns differently');
  });

  it('serves where another role of observations keeps them', () => {
    expect(observe('tool')).toBe(
      '\n<|im_start|>tool\nIt is 7.<|im_end|>\n<|im_start|>assistant\n<think>\n',
    );
  });

  it('is refused where no turn can follow its header', () => {
    const other = open(
      qwen25Template.replace('<|im_start|>assistant\n{% endif', '<|im_start|>A{% endif'),
    );
    expect(() => other.encodeObservation([text('ok')], true)).toThrow(UnsupportedError);
    expect(other.endOfTurn).toBe(other.codec.markup('<|im_end|>'));
  });

  it('is refused at once where answers have no end', () => {
    const endless = qwen25Template.replaceAll('<|im_end|>', '');
    expect(() => open(endless)).toThrow(UnsupportedError);
  });
});
