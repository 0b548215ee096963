/** The formats by name, and the one that a file is of. */
import { ConfigError, defineRegistry } from '@saccade/core';
import { readSettings, type SettingsInput } from '@saccade/core/settings';
import * as catalog from './formats/catalog.ts';
import type { DialogFormat, DialogRow, DialogSample, WrittenRows } from './formats/format.ts';

/** Formats of conversations by name. */
export const dialogFormats = defineRegistry<DialogFormat>('format', { ...catalog });

/** A format by its name, with settings. */
export type FormatChoice = string | ({ readonly name: string } & Readonly<Record<string, unknown>>);

/** Reads the rows of a file in a format. @throws ConfigError for an unknown format or setting */
export function readDialogs(path: string, format: FormatChoice): AsyncIterable<DialogRow> {
  const { unit, settings } = chosen(format);
  return unit.read(path, settings);
}

/** Writes samples to a file in a format. @throws ConfigError for an unknown format or setting */
export function writeDialogs(
  path: string,
  format: FormatChoice,
  samples: AsyncIterable<DialogSample> | Iterable<DialogSample>,
): Promise<WrittenRows> {
  const { unit, settings } = chosen(format);
  if (!unit.extensions.some((end) => path.endsWith(end))) {
    const expected = unit.extensions.join(' or ');
    throw new ConfigError(
      'path',
      `path: a file of ${unit.name} ends with ${expected}, got ${path}.`,
    );
  }
  return unit.write(path, samples, settings);
}

function chosen(format: FormatChoice) {
  const { name, ...given } = typeof format === 'string' ? { name: format } : format;
  const unit = dialogFormats.get(name);
  const values: SettingsInput<typeof unit.settings> = given;
  return { unit, settings: readSettings('format', unit.settings, values) };
}
