/** The registry of architectures, and the model of a checkpoint's configuration. */
import { ConfigError, defineRegistry, type Registry } from '@saccade/core';
import * as catalog from './architectures/catalog.ts';
import type { Architecture } from './models/architecture.ts';
import type { Json } from './models/config-fields.ts';
import type { LanguageModel } from './models/language-model.ts';

/** Architectures by the `model_type` of their configurations. */
export const architectures: Registry<Architecture> = defineRegistry<Architecture>(
  'architecture',
  catalog,
);

/**
 * The model that a `config.json` describes.
 *
 * @throws ConfigError  if its `model_type` is unknown, or a field is missing or invalid
 */
export function readModel(configJson: Json): LanguageModel {
  const { model_type: name } = configJson;
  if (typeof name !== 'string' || !architectures.has(name)) {
    throw new ConfigError(
      'model_type',
      `model_type must be one of ${architectures.names.join(', ')}; got ${JSON.stringify(name)}. ` +
        'Use a checkpoint of one of these architectures.',
    );
  }
  const architecture = architectures.get(name);
  return architecture.model(architecture.parse(configJson));
}
