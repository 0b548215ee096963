/** A command loads what it needs: words that only ask or are mistaken cost next to nothing. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'saccade-loading-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const moduleOf = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** A module for `--import` that notes the address of every module loaded after it. */
function noteTaker(file: string): string {
  const hooks = `import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  appendFileSync(${JSON.stringify(file)}, url + '\\n');
  return next(url, context);
}`;
  return moduleOf(`import { register } from 'node:module';
register(${JSON.stringify(moduleOf(hooks))});`);
}

interface Loaded {
  readonly output: string;
  readonly modules: readonly string[];
  /** Names of the packages that they belong to, sorted. */
  readonly packages: readonly string[];
}

/** Runs a command, and says which modules it loaded. */
function load(words: readonly string[]): Loaded {
  const notes = join(folder, `${words.join('-').replaceAll(/[^\w-]/g, '')}.txt`);
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', noteTaker(notes), bin, ...words],
    { cwd: folder, encoding: 'utf8' },
  );
  const modules = readFileSync(notes, 'utf8')
    .split('\n')
    .filter((url) => url.startsWith('file:'));
  const packages = [...new Set(modules.map(packageOf))].sort();
  return { output: stdout + stderr, modules, packages };
}

/** `ajv` or `@saccade/core`, wherever the package lies. */
function packageOf(url: string): string {
  const [, installed] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
  if (installed !== undefined) return installed;
  const [, own] = /.*\/packages\/([^/]+)\//.exec(url) ?? [];
  return own === undefined ? url : `@saccade/${own}`;
}

/** What declares the commands; of the last two it is one setting as text and the sandbox's limits. */
const DECLARING = [
  '@bomb.sh/tab',
  '@saccade/cli',
  '@saccade/core',
  '@saccade/sandbox',
  '@saccade/train',
  'commander',
];
/** There are about 75; a package that slips in brings more than these. */
const MOST_MODULES = 110;

describe('a command that runs nothing', () => {
  it.each([
    ['--version', '0.'],
    ['--help', 'Usage: saccade'],
    ['train --help', 'Usage: saccade train'],
    ['help serve', 'Usage: saccade serve'],
    ['train --stpes 3', 'unknown option'],
    ['trian', 'unknown command'],
    ['smoke', 'is a recipe'],
    ['recipes', 'pyvision-image-nano'],
    ['completion bash', 'complete'],
    ['complete -- train ""', 'smoke'],
  ])('loads the declarations of commands alone: saccade %s', (line, expected) => {
    const { output, modules, packages } = load(
      line.split(' ').map((word) => word.replace('""', '')),
    );
    expect(output).toContain(expected);
    expect(packages.filter((name) => !DECLARING.includes(name))).toEqual([]);
    expect(modules.length).toBeLessThan(MOST_MODULES);
  });
});

describe('a command that runs', () => {
  it('loads no library that its units do not use', () => {
    const { output, modules, packages } = load(['train', 'smoke', '--backend', 'gpu']);
    expect(output).toContain('There is no backend "gpu"');
    // Servers, and the formats of files that no unit of this run reads.
    const others = [
      ...['@modelcontextprotocol/sdk', 'ajv', 'hono', 'prom-client', 'ws'],
      ...['csv-parse', 'hyparquet', 'hyparquet-writer', 'sharp', 'tar-stream', 'yaml'],
      ...['@saccade/env-service', '@saccade/experiments', '@saccade/planner', '@saccade/report'],
      ...['@saccade/ratings', '@saccade/replay', '@saccade/synthesis'],
    ];
    expect(packages.filter((name) => others.includes(name))).toEqual([]);
    expect(modules.some((url) => url.includes('/kernels/webgpu/'))).toBe(false);
  });

  it('describes an algorithm by the package of algorithms alone', () => {
    const { output, packages } = load(['algorithms', 'show', 'dapo']);
    expect(output).toContain('clipLow');
    expect(packages).toEqual(
      ['@bomb.sh/tab', '@saccade/algorithms', '@saccade/cli', '@saccade/core']
        .concat('@saccade/sandbox', '@saccade/train', 'commander', 'zod')
        .sort(),
    );
  });
});
