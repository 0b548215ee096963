/** Which linear layers get a low-rank adapter: patterns over their names, as in peft. */
import { ConfigError, messageOf } from '@saccade/core';

/**
 * Layers by the ends of their names (`q_proj`, `mlp.up_proj`), by a regular expression that a whole
 * name matches, or `all-linear`.
 */
export type LoraTargets = string | readonly string[];

/**
 * The layers that the targets name, in their order.
 *
 * @param layers  names of all linear layers, with dots
 * @param field   the setting, for messages
 * @throws ConfigError  if a target names no layer, or the expression is none
 */
export function targetedLayers(
  layers: readonly string[],
  targets: LoraTargets,
  field: string,
): readonly string[] {
  if (targets === 'all-linear') return layers;
  const known = [...new Set(layers.map((layer) => layer.slice(layer.lastIndexOf('.') + 1)))];
  const unknown = (target: string) =>
    new ConfigError(
      field,
      `${field}: expected names of linear layers, got ${JSON.stringify(target)}, which matches ` +
        `none. Use ends of names (${known.join(', ')}), a regular expression over whole names ` +
        `such as ${JSON.stringify(layers[0] ?? '')}, or "all-linear".`,
    );
  if (typeof targets === 'string') {
    const expression = wholeName(targets, field);
    const matched = layers.filter((layer) => expression.test(layer));
    if (matched.length === 0) throw unknown(targets);
    return matched;
  }
  const endsWith = (layer: string, end: string) => layer === end || layer.endsWith(`.${end}`);
  for (const target of targets) {
    if (!layers.some((layer) => endsWith(layer, target))) throw unknown(target);
  }
  return layers.filter((layer) => targets.some((target) => endsWith(layer, target)));
}

function wholeName(source: string, field: string): RegExp {
  try {
    return new RegExp(`^(?:${source})$`);
  } catch (error) {
    throw new ConfigError(
      field,
      `${field}: ${JSON.stringify(source)} is not a regular expression (${messageOf(error)}). ` +
        'Give a list of names to match their ends.',
    );
  }
}
