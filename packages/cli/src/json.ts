/** `--json`: the same as a command prints, for programs. */
import { Option } from 'commander';

/** The option, worded alike everywhere. */
export function jsonOption(): Option {
  return new Option('--json', 'print JSON');
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}
