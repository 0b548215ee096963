import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataError } from '@saccade/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { qwen25Template } from './chat/templates.fixture.ts';
import { formatQwenImages } from './families/qwen-files.ts';
import { qwenImageProcessor } from './image-processor.ts';
import { loadProcessor } from './load-processor.ts';
import { writeProcessorFiles } from './processor-files.ts';
import { QwenProcessor } from './qwen-processor.ts';
import { trainTokenizer } from './train-tokenizer.ts';

const tokenizer = trainTokenizer(['What is it?'], 280);
const images = { ...formatQwenImages(qwenImageProcessor), min_pixels: 784, max_pixels: 3136 };

describe('the files of a processor', () => {
  let directory = '';
  const write = (file: string, content: unknown) =>
    writeFileSync(
      join(directory, file),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
  const read = (file: string) => JSON.parse(readFileSync(join(directory, file), 'utf8'));
  const maxPixels = async () => {
    const processor = await loadProcessor(directory);
    return processor instanceof QwenProcessor && processor.images.maxPixels;
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'saccade-processor-'));
    write('tokenizer.json', tokenizer);
    write('chat_template.jinja', qwen25Template);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('may be one file, as transformers 5 writes it, which counts before the older ones', async () => {
    write('preprocessor_config.json', images);
    expect(await maxPixels()).toBe(3136);
    const nested = { ...images, max_pixels: 50176, image_processor_type: 'Qwen2VLImageProcessor' };
    write('processor_config.json', {
      processor_class: 'Qwen2_5_VLProcessor',
      image_processor: nested,
    });
    expect(await maxPixels()).toBe(50176);
  });

  it('say whose arithmetic resizes images', async () => {
    const arithmetic = async (options = {}) => {
      const processor = await loadProcessor(directory, options);
      return processor instanceof QwenProcessor && processor.images.resampling?.arithmetic;
    };
    write('preprocessor_config.json', images);
    expect(await arithmetic()).toBe('pillow');
    expect(await arithmetic({ arithmetic: 'torchvision' })).toBe('torchvision');
    write('preprocessor_config.json', {
      ...images,
      image_processor_type: 'Qwen2VLImageProcessorFast',
    });
    expect(await arithmetic()).toBe('torchvision');
    write('processor_config.json', { image_processor: images });
    expect(await arithmetic()).toBe('torchvision');
  });

  it('are written as they were read, in one file or in several', async () => {
    const videos = { size: { shortest_edge: 3136, longest_edge: 6272 }, fps: 2, own: [1] };
    const whole = {
      processor_class: 'Qwen2_5_VLProcessor',
      image_processor: { ...images, data_format: 'channels_first' },
      video_processor: videos,
    };
    write('processor_config.json', whole);
    write('tokenizer_config.json', { eos_token: '<|im_end|>', chat_template: 'old' });
    const first = await loadProcessor(directory);
    await writeProcessorFiles(join(directory, 'copy'), first.files);
    expect(read('copy/processor_config.json')).toEqual(whole);
    expect(read('copy/tokenizer.json')).toEqual(tokenizer);
    expect(read('copy/tokenizer_config.json')).toEqual({ eos_token: '<|im_end|>' });
    expect(readFileSync(join(directory, 'copy/chat_template.jinja'), 'utf8')).toBe(qwen25Template);
    const { layout: _, ...parts } = first.files;
    await writeProcessorFiles(join(directory, 'apart'), { ...parts, layout: 'separate' });
    expect(readdirSync(join(directory, 'apart')).sort()).toEqual([
      'chat_template.jinja',
      'preprocessor_config.json',
      'processor_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'video_preprocessor_config.json',
    ]);
    expect(read('apart/video_preprocessor_config.json')).toEqual(videos);
    const again = await loadProcessor(join(directory, 'apart'));
    expect(again.files.videos?.json).toEqual(videos);
  });

  it('have the template in one of five places', async () => {
    write('preprocessor_config.json', images);
    const template = async () => (await loadProcessor(directory)).template.source;
    const variant = (name: string) => `{# ${name} #}${qwen25Template}`;
    expect(await template()).toBe(qwen25Template);
    write('chat_template.json', { chat_template: variant('json') });
    expect(await template()).toBe(variant('json'));
    const named = [
      { name: 'rag', template: 'x' },
      { name: 'default', template: variant('named') },
    ];
    write('processor_config.json', { chat_template: named });
    expect(await template()).toBe(variant('named'));
    for (const file of ['processor_config.json', 'chat_template.json', 'chat_template.jinja']) {
      rmSync(join(directory, file));
    }
    write('tokenizer_config.json', { chat_template: variant('tokenizer') });
    expect(await template()).toBe(variant('tokenizer'));
    write('tokenizer_config.json', { chat_template: [{ name: 'rag', template: 'x' }] });
    await expect(template()).rejects.toThrow(
      'tokenizer_config.json: chat_template must be a text, or several with one named "default"',
    );
    write('tokenizer_config.json', {});
    await expect(template()).rejects.toThrow('has no chat template');
  });

  it('are named with the field where they are damaged', async () => {
    await expect(loadProcessor(directory)).rejects.toThrow(DataError);
    await expect(loadProcessor(directory)).rejects.toThrow('has no image processor');
    write('processor_config.json', {
      processor_class: 'Qwen2_5_VLProcessor',
      image_processor: { ...images, patch_size: 0 },
    });
    await expect(loadProcessor(directory)).rejects.toThrow(
      'processor_config.json: image_processor.patch_size must be a whole number from 1 to 1024, is 0.',
    );
    write('processor_config.json', { image_processor: 7 });
    await expect(loadProcessor(directory)).rejects.toThrow(
      'processor_config.json: image_processor must be an object, is 7.',
    );
    write('processor_config.json', '{');
    await expect(loadProcessor(directory)).rejects.toThrow('processor_config.json in');
    rmSync(join(directory, 'tokenizer.json'));
    await expect(loadProcessor(directory)).rejects.toThrow('tokenizer.json in');
  });
});
