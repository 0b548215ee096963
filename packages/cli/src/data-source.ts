/** The source that a command of `saccade data` names, with its settings. */
import { ConfigError, type EventSink } from '@saccade/core';
import { listSettings, readSettings, unknownSetting } from '@saccade/core/settings';
import {
  mappings,
  type SourceContext,
  type SourceSettings,
  sourceSettings,
} from '@saccade/datasets';
import { hubOf } from '@saccade/train';
import { formatTable } from './table.ts';

/** Reads `field=value` of the command line. @throws ConfigError naming the field */
export function sourceOf(from: string, set: readonly string[] = []): SourceSettings {
  const fields = listSettings(sourceSettings);
  const values: Record<string, unknown> = { from };
  for (const text of set) {
    const equals = text.indexOf('=');
    const path = text.slice(0, Math.max(0, equals)).replace(/^taskSet\./, '');
    const field = fields.find((one) => one.path === path);
    if (equals < 0) {
      throw new ConfigError(
        text,
        `--set ${text}: expected field=value, e.g. --set mapping=chartqa.`,
      );
    }
    if (field === undefined) throw unknownSetting(path, path, fields);
    const value = text.slice(equals + 1);
    const isNumber = /^an? (integer|number)/.test(field.range) && value.trim() !== '';
    if (field.range.startsWith('a list')) values[path] = value.split(',');
    else values[path] = isNumber && !Number.isNaN(Number(value)) ? Number(value) : value;
  }
  return readSettings('', sourceSettings, values);
}

/** The hub of the environment, as a run has it. */
export function sourceContext(onEvent: EventSink): SourceContext {
  return { hub: { ...hubOf(process.env), onEvent }, onEvent };
}

/** The mappings and the settings, for the end of a help page. */
export function sourceHelp(): string {
  const rows = listSettings(sourceSettings)
    .filter(({ path }) => path !== 'from')
    .map(({ path, default: preset, about }) => [`  ${path}`, String(preset ?? 'unset'), about]);
  return `
Settings:
${formatTable(rows).join('\n')}

Mappings: ${mappings.names.join(', ')}.`;
}
