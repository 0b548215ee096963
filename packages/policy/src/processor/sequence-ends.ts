/** The tokens that a tokenizer puts around every text, such as `<|begin_of_text|>` of Llama 3. */
import { isObject, type Json } from './json-fields.ts';

/** Token ids before and after a text. */
export interface SequenceEnds {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** What the post-processor of a `tokenizer.json` adds to a single text. */
export function sequenceEnds(tokenizerJson: Json): SequenceEnds {
  const template = templateOf(tokenizerJson.post_processor);
  const before: number[] = [];
  const after: number[] = [];
  let side = before;
  for (const step of template === undefined ? [] : (template.single as readonly unknown[])) {
    if (!isObject(step)) continue;
    if (isObject(step.SpecialToken)) side.push(...idsOf(template, step.SpecialToken.id));
    else side = after;
  }
  return { before, after };
}

/** The `TemplateProcessing`, alone or in a sequence. */
function templateOf(postProcessor: unknown): Json | undefined {
  if (!isObject(postProcessor)) return undefined;
  if (Array.isArray(postProcessor.single)) return postProcessor;
  const { processors } = postProcessor;
  if (!Array.isArray(processors)) return undefined;
  return processors.map(templateOf).find((template) => template !== undefined);
}

function idsOf(template: Json | undefined, name: unknown): number[] {
  const tokens = template?.special_tokens;
  const token = isObject(tokens) ? tokens[String(name)] : undefined;
  return isObject(token) && Array.isArray(token.ids) ? token.ids.map(Number) : [];
}
