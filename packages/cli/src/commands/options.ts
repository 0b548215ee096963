/** Options that several commands take, worded alike everywhere. */
import { parseSetting, type Setting } from '@saccade/train/setting';
import { Option } from 'commander';
import { collect, more } from '../shared.ts';

export function jsonOption(): Option {
  return new Option('--json', 'print JSON');
}

export function configOption(): Option {
  return new Option('--config <file>', 'settings from a JSON file, before those of --set');
}

/** The `--set` of the commands of `saccade data`. */
export function sourceOption(): Option {
  return new Option(
    '--set <field=value>',
    'a setting of the source, e.g. mapping=chartqa; may be repeated',
  ).argParser(more);
}

/** A repeated option's values so far, with one more `--set path=value`. */
export function addSetting(text: string, before: readonly Setting[]): readonly Setting[] {
  return collect(parseSetting(text), before);
}
