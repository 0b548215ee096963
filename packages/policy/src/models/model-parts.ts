/** The parts of a vision-language model that are adapted or frozen apart, by parameter names. */
import { ConfigError } from '@saccade/core';

/** The decoder with its embedding and head, the layers that merge patches for it, the tower. */
export type ModelPart = 'language' | 'merger' | 'vision';

const MERGER = /(^|\.)(merger|deepstack_merger_list|multi_modal_projector|connector)\./;
const VISION = /(^|\.)(visual|vision_tower|vision_model)\./;

/** The part that a parameter or layer belongs to. */
export function partOf(name: string): ModelPart {
  const dotted = `${name}.`;
  if (MERGER.test(dotted)) return 'merger';
  return VISION.test(dotted) ? 'vision' : 'language';
}

/**
 * The parameters that patterns name, in order: a part (`language`, `merger`, `vision`), or a regular
 * expression that a whole name matches.
 *
 * @throws ConfigError  if a pattern names no parameter
 */
export function matchingParameters(
  names: readonly string[],
  patterns: readonly string[],
  field: string,
): readonly string[] {
  const tests = patterns.map((pattern) => testOf(pattern, field));
  patterns.forEach((pattern, i) => {
    if (names.some((name) => tests[i]?.(name))) return;
    throw new ConfigError(
      field,
      `${field}: ${JSON.stringify(pattern)} names no parameter. Use language, merger, vision, or ` +
        `a regular expression over whole names such as ${JSON.stringify(names[0] ?? '')}.`,
    );
  });
  return names.filter((name) => tests.some((test) => test(name)));
}

function testOf(pattern: string, field: string): (name: string) => boolean {
  if (pattern === 'language' || pattern === 'merger' || pattern === 'vision') {
    return (name) => partOf(name) === pattern;
  }
  try {
    const expression = new RegExp(`^(?:${pattern})$`);
    return (name) => expression.test(name);
  } catch (error) {
    throw new ConfigError(
      field,
      `${field}: ${JSON.stringify(pattern)} is no regular expression (${String(error)}). ` +
        'Use language, merger, vision, or an expression over whole names.',
    );
  }
}
