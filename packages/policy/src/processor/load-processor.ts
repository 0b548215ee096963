/** The processor of a policy that was saved, without its weights. */
import { readJson } from '#disk';
import { parsePreprocessor } from './preprocessor-config.ts';
import { QwenProcessor } from './qwen-processor.ts';

/** @throws DataError if the directory has no tokenizer.json or preprocessor_config.json */
export async function loadProcessor(directory: string): Promise<QwenProcessor> {
  const tokenizer = await readJson(directory, 'tokenizer.json');
  const images = parsePreprocessor(await readJson(directory, 'preprocessor_config.json'));
  return new QwenProcessor(tokenizer, images);
}
