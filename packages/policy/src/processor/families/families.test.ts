import { DataError, ShapeError, UnsupportedError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { ContentPart } from '../../policy.ts';
import { internvlTemplate, qwen25Template, smolvlmTemplate } from '../chat/templates.fixture.ts';
import { drawing } from '../drawing.fixture.ts';
import { familyOf, processorFamilies } from '../family-registry.ts';
import { tileArrangement } from '../images/got-ocr2-images.ts';
import { type Json, JsonFields } from '../json-fields.ts';
import type { ProcessorFiles } from '../processor-files.ts';
import { checkpointFiles } from '../qwen-checkpoint.fixture.ts';
import { trainTokenizer } from '../train-tokenizer.ts';
import type { VideoFrames } from '../videos/frames.ts';
import { withOneDecimal } from './qwen-visuals.ts';

const text = (content: string): ContentPart => ({ kind: 'text', text: content });

/** A small tokenizer with more special tokens. */
function tokenizerWith(names: readonly string[]): Json {
  const tokenizer = trainTokenizer(['Frame1: seconds'], 320);
  const added = tokenizer.added_tokens as readonly object[];
  const more = names.map((content, i) => ({ ...added[0], id: 320 + i, content }));
  return { ...tokenizer, added_tokens: [...added, ...more] };
}

const around = ['<fake_token_around_image>', '<image>', '<global-img>', '<end_of_utterance>'];
const places = ['<row_1_col_1>', '<row_1_col_2>'];

function filesOf(
  template: string,
  tokens: readonly string[],
  parts: { processor?: Json; images?: Json; config?: Json },
): ProcessorFiles {
  return checkpointFiles(template, {
    tokenizer: tokenizerWith(tokens),
    processor: new JsonFields(parts.processor ?? {}, 'processor_config.json'),
    images: new JsonFields(parts.images ?? {}, 'preprocessor_config.json'),
    config: new JsonFields(parts.config ?? {}, 'config.json'),
  });
}

const smolvlmFiles = (images: Json = {}) =>
  filesOf(smolvlmTemplate, [...around, ...places], {
    processor: { processor_class: 'SmolVLMProcessor', image_seq_len: 2 },
    images: { size: { longest_edge: 64 }, max_image_size: { longest_edge: 32 }, ...images },
    config: { vision_config: { patch_size: 8 } },
  });

const internvlFiles = (images: Json = {}, config: Json = {}) =>
  filesOf(internvlTemplate, ['<img>', '</img>', '<IMG_CONTEXT>'], {
    processor: { processor_class: 'InternVLProcessor', image_seq_length: 3 },
    images: { size: { height: 28, width: 28 }, max_patches: 4, ...images },
    config: { vision_config: { patch_size: [14, 14] }, ...config },
  });

const video = (count: number, step: number): VideoFrames => ({
  frames: Array.from({ length: count }, (_, i) => drawing(60 + 0 * i, 40)),
  timestamps: Array.from({ length: count }, (_, i) => i * step),
});

/** A template that, as those of Qwen3, shows contents that are texts and no others. */
const textTemplate = [
  "{%- for message in messages -%}{{- '<|im_start|>' + message.role + '\\n' -}}",
  '{%- if message.content is string -%}{{- message.content -}}{%- endif -%}',
  "{{- '<|im_end|>\\n' -}}{%- endfor -%}",
  "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}",
].join('');

describe('the family of text', () => {
  const config = new JsonFields({ model_type: 'qwen3' }, 'config.json');
  const { images: _, ...files } = checkpointFiles(textTemplate, { config });
  const open = () => familyOf(files).open(files, {});

  it('gives templates texts, and turns that follow one another', () => {
    const processor = open();
    const { tokens, images } = processor.encodePrompt([text('What '), text('is it?')], 'Be brief.');
    expect(images).toEqual([]);
    expect(processor.decode(tokens)).toBe(
      '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhat is it?<|im_end|>\n' +
        '<|im_start|>assistant\n',
    );
    const answer = processor.encodeModelText('A 7.', true);
    const more = processor.encodeObservation([text('Sure?')], true).tokens;
    const whole = processor.encodeConversation(
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is it?' },
        { role: 'assistant', content: 'A 7.' },
        { role: 'user', content: 'Sure?' },
      ],
      { addGenerationPrompt: true },
    );
    expect([...tokens, ...answer, ...more]).toEqual([...whole.tokens]);
  });

  it('takes no images and no videos, and says so', async () => {
    const processor = open();
    expect(processor.imageToken).toBeUndefined();
    await expect(processor.prepareImage(new Uint8Array(4))).rejects.toThrow(UnsupportedError);
    expect(() => processor.prepareVideo(video(2, 1))).toThrow('This model reads text alone.');
    const seen = processorFamilies.get('qwen').open(checkpointFiles(qwen25Template), {});
    const image: ContentPart = { kind: 'image', image: seen.prepareVideo(video(2, 1)) };
    expect(() => processor.encodePrompt([image])).toThrow('This model reads text alone.');
    expect(() => processor.encodeContent([image])).toThrow('This model reads text alone.');
  });

  it('is not that of a model that sees, whose image processor is missing', () => {
    const seeing = { ...files, config: new JsonFields({ model_type: 'qwen3_vl' }, 'config.json') };
    expect(() => familyOf(seeing).open(seeing, {})).toThrow(
      'The checkpoint has no image processor: neither preprocessor_config.json nor image_processor',
    );
  });
});

describe('the families', () => {
  it('are found by the class in any file, or else by the type of the model', () => {
    expect(processorFamilies.names).toEqual([
      'idefics3',
      'internvl',
      'qwen',
      'qwen3-vl',
      'smolvlm',
      'text',
    ]);
    const find = (parts: Partial<ProcessorFiles>) =>
      familyOf(checkpointFiles(qwen25Template, parts)).name;
    const named = (name: string) => new JsonFields({ processor_class: name }, 'x.json');
    expect(find({ processor: named('InternVLProcessor') })).toBe('internvl');
    expect(find({ images: named('Qwen2_5_VLProcessor') })).toBe('qwen');
    expect(find({ tokenizerConfig: { processor_class: 'Idefics3Processor' } })).toBe('idefics3');
    const config = new JsonFields({ model_type: 'qwen3_vl_moe' }, 'config.json');
    expect(find({ config })).toBe('qwen3-vl');
    expect(() => find({ processor: named('LlavaProcessor') })).toThrow(UnsupportedError);
    expect(() => find({ processor: named('LlavaProcessor') })).toThrow(
      'There is no processor for processor_class LlavaProcessor and model_type none.',
    );
  });
});

describe('InternVL', () => {
  const processor = processorFamilies.get('internvl').open(internvlFiles(), {});

  it('cuts an image into tiles of its own aspect ratio, and marks them as one image', async () => {
    const visuals = processor.prepareVideo(video(1, 1));
    expect(visuals).toMatchObject({ grids: 1, gridHeight: 2, gridWidth: 2, tokenCount: 3 });
    const config = { tile: { width: 448, height: 448 }, minTiles: 1, maxTiles: 12 };
    const arrange = (width: number, height: number) => {
      const shared = {
        patchSize: 14,
        tokensPerTile: 256,
        mean: [0, 0, 0],
        std: [1, 1, 1],
      } as const;
      const { columns, rows } = tileArrangement({ width, height }, { ...config, ...shared });
      return [columns, rows];
    };
    // transformers 5.18, get_optimal_tiled_canvas.
    expect(arrange(448, 448)).toEqual([1, 1]);
    expect(arrange(1000, 1000)).toEqual([3, 3]);
    expect(arrange(1344, 896)).toEqual([3, 2]);
    expect(arrange(200, 1)).toEqual([12, 1]);
    expect(arrange(640, 480)).toEqual([4, 3]);
    expect(arrange(333, 777)).toEqual([2, 5]);
  });

  it('numbers the frames of a video', () => {
    const { tokens } = processor.encodePrompt([
      { kind: 'image', image: processor.prepareVideo(video(2, 1)) },
      text('What moves?'),
    ]);
    const frame = '<img><IMG_CONTEXT><IMG_CONTEXT><IMG_CONTEXT></img>';
    expect(processor.decode(tokens)).toBe(
      `<|im_start|>user\nFrame1: ${frame}\nFrame2: ${frame}\nWhat moves?<|im_end|>\n` +
        '<|im_start|>assistant\n',
    );
  });

  it('names the field of config.json that does not fit', () => {
    const open = (config: Json) =>
      processorFamilies.get('internvl').open(internvlFiles({}, config), {});
    expect(() => open({ vision_config: { patch_size: [14, 16] } })).toThrow(
      'config.json: vision_config.patch_size must be one number for both axes',
    );
    expect(() => open({ vision_config: 7 })).toThrow(
      'config.json: vision_config must be an object',
    );
  });
});

describe('SmolVLM', () => {
  const processor = processorFamilies.get('smolvlm').open(smolvlmFiles(), {});

  it('names the tiles of an image by their places, and shows the whole image last', async () => {
    const png = await import('fast-png').then(({ encode }) => {
      const { pixels, width, height } = drawing(60, 20);
      return encode({ data: pixels, width, height, channels: 3 });
    });
    const image = await processor.prepareImage(png);
    expect(image).toMatchObject({ grids: 3, tiles: { rows: 1, columns: 2 }, tokenCount: 6 });
    const { tokens } = processor.encodePrompt([text('Look: '), { kind: 'image', image }]);
    const two = '<image><image>';
    expect(processor.decode(tokens)).toBe(
      `<|im_start|>User: Look: ${around[0]}<row_1_col_1>${two}${around[0]}<row_1_col_2>${two}\n\n` +
        `${around[0]}<global-img>${two}${around[0]}<end_of_utterance>\nAssistant:`,
    );
  });

  it('begins answers with the space that its template writes', () => {
    const answer = processor.encodeModelText('Seven', true);
    expect(processor.decode(answer)).toBe(' Seven<end_of_utterance>');
    expect(processor.encodeModelText(' Seven', true)).toEqual(answer);
    expect(processor.decode(processor.encodeObservation([text('Right.')], true).tokens)).toBe(
      '\nUser: Right.<end_of_utterance>\nAssistant:',
    );
  });

  it('introduces a video with its length and the times of its frames', () => {
    const clip = { ...video(21, 6), durationSeconds: 3725.9 };
    const image = processor.prepareVideo(clip);
    const whole = processor.decode(processor.encodePrompt([{ kind: 'image', image }]).tokens);
    expect(whole).toContain('series of twenty-one frames from a 1:02:05 [H:MM:SS] video.\n');
    expect(whole).toContain('\nFrame from 00:00:<fake_token_around_image><global-img>');
    expect(whole).toContain('\nFrame from 02:00:');
    expect(whole).toContain(`${around[0]}\n\n<end_of_utterance>\nAssistant:`);
  });

  it('never takes the place of a tile, or a placeholder, from a text', () => {
    const all = [...around, ...places, '<video>', '<|im_start|>'].join('');
    const { tokens } = processor.encodeContent([text(all)]);
    expect([...tokens].filter((id) => id >= 320)).toEqual([]);
    expect(processor.decode(tokens)).toBe(all);
  });

  it('needs the size of a patch', () => {
    const files = { ...smolvlmFiles(), config: new JsonFields({}, 'config.json') };
    const open = () => processorFamilies.get('smolvlm').open(files, {});
    expect(open).toThrow(DataError);
    expect(open).toThrow('config.json: vision_config.patch_size must be a whole number');
    const far = smolvlmFiles({ max_image_size: { longest_edge: '32' } });
    expect(() => processorFamilies.get('smolvlm').open(far, {})).toThrow(
      'preprocessor_config.json: max_image_size.longest_edge must be a whole number',
    );
  });
});

describe('videos of Qwen', () => {
  const files = checkpointFiles(qwen25Template, {
    tokenizer: trainTokenizer([], 270),
    videos: new JsonFields({ size: { shortest_edge: 3136, longest_edge: 3136 } }, 'video.json'),
  });
  const older = processorFamilies.get('qwen').open(files, {});
  const newer = processorFamilies.get('qwen3-vl').open(files, {});

  it('have seconds per grid, from the length or the distance of frames', () => {
    const image = older.prepareVideo(video(5, 0.5));
    expect(image).toMatchObject({ grids: 3, gridHeight: 4, gridWidth: 6, tokenCount: 18 });
    expect(image.video).toMatchObject({ secondsPerGrid: 1 });
    const long = older.prepareVideo({ ...video(5, 0.5), durationSeconds: 10 });
    expect(long.video).toMatchObject({ secondsPerGrid: 4, durationSeconds: 10 });
    expect(older.prepareVideo(video(1, 1)).video).toMatchObject({ secondsPerGrid: 2 / 24 });
  });

  it('have their times in the text where the family writes them', () => {
    const image = newer.prepareVideo(video(4, 0.25));
    const { tokens } = newer.encodeContent([{ kind: 'image', image }]);
    const pads = '<|video_pad|>'.repeat(image.tokenCount / 2);
    const moment = `<|vision_start|>${pads}<|vision_end|>`;
    expect(newer.decode(tokens)).toBe(
      `<|vision_start|><0.1 seconds>${moment}<0.6 seconds>${moment}<|vision_end|>`,
    );
  });

  it('write times as Python does', () => {
    // Python 3.11: f"{seconds:.1f}"
    const written = { 0.25: '0.2', 0.75: '0.8', 0.35: '0.3', 2.45: '2.5', 12.25: '12.2', 5: '5.0' };
    for (const [seconds, expected] of Object.entries(written)) {
      expect(withOneDecimal(Number(seconds))).toBe(expected);
    }
  });

  it('are refused without frames, with frames of two sizes, without times, or too short', () => {
    const [frame] = video(1, 1).frames;
    const other = drawing(10, 10);
    for (const wrong of [
      { frames: [], timestamps: [] },
      { frames: [frame, other], timestamps: [0, 1] },
      { frames: [frame], timestamps: [] },
      { frames: [frame], timestamps: [Number.NaN] },
    ]) {
      expect(() => older.prepareVideo(wrong as VideoFrames)).toThrow(ShapeError);
    }
    expect(() => newer.prepareVideo(video(1, 1))).toThrow(DataError);
    const images = processorFamilies.get('idefics3').open(smolvlmFiles(), {});
    expect(() => images.prepareVideo(video(1, 1))).toThrow(UnsupportedError);
  });
});
