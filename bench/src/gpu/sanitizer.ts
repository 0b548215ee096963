/** NVIDIA's compute-sanitizer around a small run of all kernels: wild accesses and races. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** memcheck: accesses out of bounds and misaligned; racecheck: hazards in shared memory. */
export const SANITIZER_TOOLS = ['memcheck', 'racecheck'] as const;
export type SanitizerTool = (typeof SANITIZER_TOOLS)[number];

/** Exit status it is told to end with where it found something. */
const FOUND_STATUS = 99;

/** Its path: on the PATH, or where the toolkit is installed. */
export function findSanitizer(
  path: string = process.env.PATH ?? '',
  toolkits: readonly string[] = ['/usr/local/cuda/bin', '/opt/cuda/bin'],
): string | undefined {
  return [...path.split(delimiter), ...toolkits]
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'compute-sanitizer'))
    .find((file) => existsSync(file));
}

/** Arguments that run a command under a tool. */
export function sanitizerArgs(
  tool: SanitizerTool,
  command: string,
  args: readonly string[],
): readonly string[] {
  return ['--tool', tool, '--error-exitcode', `${FOUND_STATUS}`, command, ...args];
}

/** The sanitizer's last summary: `ERROR SUMMARY: 0 errors`, or racecheck's equivalent. */
export function readSanitizer(said: string): string | undefined {
  return said
    .split('\n')
    .filter((line) => /(ERROR|RACECHECK) SUMMARY/.test(line))
    .at(-1)
    ?.replace(/^=+\s*/, '')
    .trim();
}
