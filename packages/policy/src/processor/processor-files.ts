/** The files of a checkpoint's processor: what is read from them, and how they are written again. */
import { DataError } from '@saccade/core';
import { hasFile, readJson, readText, writeText } from '#disk';
import { isObject, type Json, JsonFields } from './json-fields.ts';

const PROCESSOR = 'processor_config.json';
const IMAGES = 'preprocessor_config.json';
const VIDEOS = 'video_preprocessor_config.json';
const TOKENIZER = 'tokenizer.json';
const TOKENIZER_CONFIG = 'tokenizer_config.json';
const TEMPLATE = 'chat_template.jinja';
const OLD_TEMPLATE = 'chat_template.json';
const CONFIG = 'config.json';

/** The contents of a processor's files. */
export interface ProcessorFiles {
  /** `tokenizer.json`. */
  readonly tokenizer: Json;
  /** `tokenizer_config.json`; empty where there is none. */
  readonly tokenizerConfig: Json;
  /** Fields of `processor_config.json` besides the image and video processors. */
  readonly processor: JsonFields;
  /** The image processor, with the name of its file for messages; absent where there is none. */
  readonly images?: JsonFields;
  /** The video processor; absent where there is none. */
  readonly videos?: JsonFields;
  readonly chatTemplate: string;
  /** `config.json`; empty where there is none. It is not written. */
  readonly config: JsonFields;
  /**
   * `nested`: all in `processor_config.json`, as transformers 5 writes it. `separate`: a file for
   * each, which older versions read, too.
   */
  readonly layout: 'nested' | 'separate';
}

async function optionalJson(directory: string, file: string): Promise<Json | undefined> {
  return hasFile(directory, file) ? readJson(directory, file) : undefined;
}

/**
 * Reads the files in transformers' order of precedence: an image or video processor nested in
 * `processor_config.json` counts before a file of its own.
 *
 * @throws DataError naming the file that is missing or damaged
 */
export async function readProcessorFiles(directory: string): Promise<ProcessorFiles> {
  const tokenizer = await readJson(directory, TOKENIZER);
  const tokenizerConfig = (await optionalJson(directory, TOKENIZER_CONFIG)) ?? {};
  const whole = (await optionalJson(directory, PROCESSOR)) ?? {};
  const { image_processor: nestedImages, video_processor: nestedVideos, ...processor } = whole;
  const images =
    nested(nestedImages, 'image_processor') ??
    fields(await optionalJson(directory, IMAGES), IMAGES);
  const videos =
    nested(nestedVideos, 'video_processor') ??
    fields(await optionalJson(directory, VIDEOS), VIDEOS);
  return {
    tokenizer,
    tokenizerConfig,
    processor: new JsonFields(processor, PROCESSOR),
    ...(images !== undefined && { images }),
    ...(videos !== undefined && { videos }),
    chatTemplate: await readTemplate(directory, processor, tokenizerConfig),
    config: new JsonFields((await optionalJson(directory, CONFIG)) ?? {}, CONFIG),
    layout: nestedImages === undefined ? 'separate' : 'nested',
  };
}

function fields(json: Json | undefined, file: string): JsonFields | undefined {
  return json === undefined ? undefined : new JsonFields(json, file);
}

function nested(json: unknown, field: string): JsonFields | undefined {
  if (json === undefined || json === null) return undefined;
  if (isObject(json)) return new JsonFields(json, `${PROCESSOR}: ${field}`);
  throw new JsonFields({ [field]: json }, PROCESSOR).unfit(field, 'an object');
}

/** The image processor of a model that sees images. @throws DataError if there is none */
export function imageFields({ images }: ProcessorFiles): JsonFields {
  if (images !== undefined) return images;
  throw new DataError(
    `The checkpoint has no image processor: neither ${IMAGES} nor image_processor in ${PROCESSOR}. ` +
      'Download the whole checkpoint.',
  );
}

/** The template that a processor of transformers would use, else the tokenizer's. */
async function readTemplate(
  directory: string,
  processor: Json,
  tokenizerConfig: Json,
): Promise<string> {
  if (processor.chat_template !== undefined && processor.chat_template !== null) {
    return templateOf(processor.chat_template, PROCESSOR);
  }
  if (hasFile(directory, OLD_TEMPLATE)) {
    const { chat_template } = await readJson(directory, OLD_TEMPLATE);
    return templateOf(chat_template, OLD_TEMPLATE);
  }
  if (hasFile(directory, TEMPLATE)) {
    return (await readText(directory, TEMPLATE)).replaceAll('\r\n', '\n');
  }
  if (tokenizerConfig.chat_template !== undefined && tokenizerConfig.chat_template !== null) {
    return templateOf(tokenizerConfig.chat_template, TOKENIZER_CONFIG);
  }
  throw new DataError(
    `${directory} has no chat template: neither ${TEMPLATE} nor chat_template in ` +
      `${TOKENIZER_CONFIG} or ${PROCESSOR}. Add one, or use a checkpoint for chats.`,
  );
}

/** A template, or that called `default` of several. */
function templateOf(value: unknown, file: string): string {
  if (typeof value === 'string') return value;
  const named: unknown = Array.isArray(value)
    ? value.find((one) => isObject(one) && one.name === 'default')?.template
    : isObject(value) && value.default;
  if (typeof named === 'string') return named;
  const expected = 'a text, or several with one named "default"';
  throw new JsonFields({ chat_template: value }, file).unfit('chat_template', expected);
}

/** Writes the files again, in the layout in which they were read. */
export async function writeProcessorFiles(directory: string, files: ProcessorFiles): Promise<void> {
  const write = (file: string, json: Json): Promise<void> =>
    writeText(directory, file, `${JSON.stringify(json, null, 2)}\n`);
  const { chat_template: _, ...tokenizerConfig } = files.tokenizerConfig;
  const { chat_template: __, ...processor } = files.processor.json;
  await write(TOKENIZER, files.tokenizer);
  await write(TOKENIZER_CONFIG, tokenizerConfig);
  await writeText(directory, TEMPLATE, files.chatTemplate);
  if (files.layout === 'nested') {
    const videos = files.videos && { video_processor: files.videos.json };
    await write(PROCESSOR, { ...processor, image_processor: files.images?.json, ...videos });
    return;
  }
  if (Object.keys(processor).length > 0) await write(PROCESSOR, processor);
  if (files.images !== undefined) await write(IMAGES, files.images.json);
  if (files.videos !== undefined) await write(VIDEOS, files.videos.json);
}
