/** `--json`: the same as a command prints, for programs. */
export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}
