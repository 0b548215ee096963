/** The files of a processor that was not read from any. */
import { type Json, JsonFields } from './json-fields.ts';
import type { ProcessorFiles } from './processor-files.ts';

/** Contents of the files, and the token that ends a turn. */
export interface OwnFiles {
  readonly tokenizer: Json;
  readonly endOfTurn: string;
  readonly chatTemplate: string;
  readonly processor: Json;
  readonly images: Json;
  readonly config: Json;
}

/** The files as a processor is opened with, and as `writeProcessorFiles` writes them. */
export function ownFiles(contents: OwnFiles): ProcessorFiles {
  const { tokenizer, endOfTurn, chatTemplate, processor, images, config } = contents;
  return {
    tokenizer,
    tokenizerConfig: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      eos_token: endOfTurn,
      pad_token: '<|endoftext|>',
    },
    processor: new JsonFields(processor, 'processor_config.json'),
    images: new JsonFields(images, 'preprocessor_config.json'),
    chatTemplate,
    config: new JsonFields(config, 'config.json'),
    layout: 'separate',
  };
}
