/** Which linear layers get a low-rank adapter: patterns over their names, as in peft. */
import { ConfigError } from '@saccade/core';

/**
 * Ends of layer names (`q_proj`, `mlp.up_proj`), regular expressions that whole names match
 * (`.*layers\.1\..*`), or `all-linear`. A layer is adapted if one of them names it.
 */
export type LoraTargets = readonly string[];

/**
 * The layers that the targets name, in their order.
 *
 * @param layers  names of the linear layers, with dots
 * @param field   the setting, for messages
 * @throws ConfigError  if a target names no layer
 */
export function targetedLayers(
  layers: readonly string[],
  targets: LoraTargets,
  field: string,
): readonly string[] {
  const tests = targets.map((target) => testOf(target));
  targets.forEach((target, i) => {
    if (layers.some((layer) => tests[i]?.(layer))) return;
    if (layers.length === 0) {
      throw new ConfigError(
        field,
        `${field}: got ${JSON.stringify(target)}, but the model has no linear layers there. Leave it out.`,
      );
    }
    const ends = [...new Set(layers.map((layer) => layer.slice(layer.lastIndexOf('.') + 1)))];
    throw new ConfigError(
      field,
      `${field}: expected names of linear layers, got ${JSON.stringify(target)}, which matches ` +
        `none. Use ends of names (${ends.join(', ')}), a regular expression over whole names ` +
        `such as ${JSON.stringify(layers[0])}, or "all-linear".`,
    );
  });
  return layers.filter((layer) => tests.some((test) => test(layer)));
}

function testOf(target: string): (layer: string) => boolean {
  if (target === 'all-linear') return () => true;
  const expression = wholeName(target);
  return (layer) =>
    layer === target || layer.endsWith(`.${target}`) || expression?.test(layer) === true;
}

/** Undefined for text that is no regular expression: then it can only be the end of a name. */
function wholeName(source: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${source})$`);
  } catch {
    return undefined;
  }
}
