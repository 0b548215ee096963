/** `--config file`: settings from a JSON file, as `--set` would give them. */
import { readFileSync } from 'node:fs';
import { ConfigError, messageOf } from '@saccade/core';
import { describeValue } from '@saccade/core/settings';
import type { Setting } from '@saccade/train';

/**
 * The settings of a file, in its order: `{ "algorithm": "dapo", "rl": { "steps": 50 } }`. A run’s own
 * `config.json` is one as well.
 *
 * @throws ConfigError naming the file, if it cannot be read or holds no JSON object
 */
export function readConfigFile(file: string | undefined): readonly Setting[] {
  if (file === undefined) return [];
  const content = parse(file);
  if (!isObject(content)) {
    throw new ConfigError(
      '--config',
      `--config: ${file} holds ${describeValue(content)}. Give a JSON file of settings.`,
    );
  }
  return flatten(isObject(content.config) ? content.config : content);
}

function parse(file: string): unknown {
  const refuse = (what: string): ConfigError =>
    new ConfigError('--config', `--config: ${what} Give a JSON file of settings.`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw refuse(`there is no file ${file}.`);
    if (code === 'EISDIR') throw refuse(`${file} is a directory.`);
    throw refuse(`${file} cannot be read: ${messageOf(error)}.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refuse(`${file} is not JSON: ${messageOf(error).replaceAll(/\s+/g, ' ')}.`);
  }
}

/** A setting for each value. The name of a unit comes before its other settings. */
function flatten(settings: Readonly<Record<string, unknown>>, prefix = ''): readonly Setting[] {
  return Object.entries(settings).flatMap(([key, value]) =>
    isObject(value) ? flatten(value, `${prefix}${key}.`) : [{ path: prefix + key, value }],
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
