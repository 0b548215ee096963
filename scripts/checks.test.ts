import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkAlgorithmCatalog, commentOf } from './algorithm-catalog.mjs';
import { checkCatalogs } from './check-catalogs.mjs';
import { namedNumbers, reasonOf } from './check-constants.mjs';
import { checkContributing } from './check-contributing.mjs';
import { checkCycles } from './check-cycles.mjs';
import { environmentReads } from './check-environment.mjs';
import { findUndocumented } from './check-exports.mjs';
import { checkLayers } from './check-layers.mjs';
import { checkReferences } from './references.mjs';
import { findMissing, isNodeRecentEnough } from './setup.mjs';

let root: string;

function put(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function putPackage(name: string, dependencies: readonly string[] = []): void {
  const declared = Object.fromEntries(dependencies.map((other) => [other, '*']));
  put(
    `packages/${name}/package.json`,
    JSON.stringify({ name: `@saccade/${name}`, dependencies: declared }),
  );
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'saccade-checks-'));
  put('package.json', JSON.stringify({ private: true, devDependencies: { vitest: '*' } }));
  put('scripts/layers.json', JSON.stringify(['core', 'ops']));
  putPackage('core');
  put('packages/core/src/index.ts', `import { join } from 'node:path';\nexport const a = join;\n`);
  putPackage('ops', ['@saccade/core']);
  put('packages/ops/src/index.ts', `export { a } from '@saccade/core';\n`);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('check-layers', () => {
  it('finds nothing in a tree that keeps the rules', () => {
    expect(checkLayers(root)).toEqual([]);
  });

  it('names an import that goes up', () => {
    putPackage('core', ['@saccade/ops']);
    put('packages/core/src/up.ts', `import type { Op } from '@saccade/ops';\n`);
    expect(checkLayers(root)).toEqual([
      'packages/core/src/up.ts imports @saccade/ops, which is not below core in layers.json.',
    ]);
  });

  it('names an import that package.json does not declare, also a dynamic one', () => {
    put('packages/ops/src/other.ts', `export const load = () => import('zod/v4');\n`);
    expect(checkLayers(root)).toEqual([
      'packages/ops/src/other.ts imports zod, which packages/ops/package.json lacks.',
    ]);
  });

  it('lets tests, and only tests, import what the workspace has for development', () => {
    put('packages/ops/src/a.test.ts', `import { it } from 'vitest';\n`);
    put('packages/ops/src/b.ts', `import { it } from 'vitest';\n`);
    expect(checkLayers(root)).toEqual([
      'packages/ops/src/b.ts imports vitest, which packages/ops/package.json lacks.',
    ]);
  });

  it('names a declared dependency that nothing imports', () => {
    putPackage('ops', ['@saccade/core', 'sharp']);
    expect(checkLayers(root)).toEqual([
      'packages/ops/package.json declares sharp, which nothing imports.',
    ]);
  });

  it('names a path into another package and a file that is not there', () => {
    put('packages/ops/src/a.ts', `import { a } from '../../core/src/index.ts';\n`);
    put('packages/ops/src/b.ts', `import { c } from './c.ts';\n`);
    const problems = checkLayers(root).join('\n');
    expect(problems).toContain('packages/ops/src/a.ts imports ../../core/src/index.ts');
    expect(problems).toContain('packages/ops/src/b.ts imports ./c.ts, which does not exist.');
  });

  it('names a folder and a file whose names say nothing', () => {
    put('kernels/cpu/common/tile.h', '');
    put('packages/ops/src/utils.ts', '');
    const problems = checkLayers(root);
    expect(problems).toHaveLength(2);
    expect(problems.join()).toMatch(/packages\/ops\/src\/utils.ts: .*kernels\/cpu\/common: /);
  });

  it('names a package that layers.json lacks, and a line there without a package', () => {
    put('scripts/layers.json', JSON.stringify(['core', 'gone']));
    expect(checkLayers(root)).toEqual([
      'scripts/layers.json lists gone, which is no package. Remove it.',
      expect.stringContaining('packages/ops is not in scripts/layers.json.'),
    ]);
  });

  it('names a file of more than 400 lines', () => {
    put('kernels/cpu/long.cc', '\n'.repeat(400).replaceAll('\n', 'x\n'));
    expect(checkLayers(root)).toEqual([]);
    put('kernels/cpu/long.cc', '\n'.repeat(401).replaceAll('\n', 'x\n'));
    expect(checkLayers(root)).toEqual([
      'kernels/cpu/long.cc has 401 lines, 400 is the limit. Split it.',
    ]);
  });
});

describe('check-cycles', () => {
  it('names cycles of values and of types, wherever the files lie, but not those of tests', () => {
    put('kernels/webgpu/a.ts', `import { b } from './b.ts';\nexport const a = b;\n`);
    put('kernels/webgpu/b.ts', `import type { C } from './c.ts';\nexport const b = 1;\n`);
    put('kernels/webgpu/c.ts', `export interface C {}\n`);
    put('bench/d.test.ts', `import './e.fixture.ts';\n`);
    put('bench/e.fixture.ts', `import './d.test.ts';\n`);
    expect(checkCycles(root)).toEqual([]);
    put('kernels/webgpu/c.ts', `export type C = import('./a.ts').A;\n`);
    expect(checkCycles(root)).toEqual([
      expect.stringMatching(/(\w.ts → .*){3}\w.ts is an import cycle/),
    ]);
    put('kernels/webgpu/c.ts', `export * from './a.ts';\n`);
    expect(checkCycles(root)).toHaveLength(1);
  });
});

describe('references', () => {
  it('names references that are missing and those that nothing imports', () => {
    const options = { compilerOptions: { rootDir: 'src' } };
    put('packages/core/tsconfig.json', JSON.stringify(options));
    put('packages/ops/tsconfig.json', JSON.stringify(options));
    put(
      'tsconfig.json',
      JSON.stringify({ references: [{ path: 'packages/core' }, { path: 'x' }] }),
    );
    expect(checkReferences(root)).toEqual([
      expect.stringContaining('packages/ops/tsconfig.json lacks a reference to ../core'),
      expect.stringContaining('tsconfig.json lacks a reference to packages/ops'),
      expect.stringContaining('tsconfig.json refers to x, which nothing imports'),
    ]);
  });
});

describe('check-environment', () => {
  it('finds every way to read the environment, and no comment about it', () => {
    const text = `// process.env.A
const a = process.env.A;
const { env } = process;
import { env as e } from 'node:process';
const b = import.meta.env;
const c = options.env;
`;
    expect(environmentReads(text)).toEqual([2, 3, 4, 5]);
  });
});

describe('check-exports', () => {
  it('finds exports without a doc comment through the files that pass them on', () => {
    const source = { '@saccade/source': './src/index.ts' };
    put(
      'packages/ops/package.json',
      JSON.stringify({ name: '@saccade/ops', exports: { '.': source } }),
    );
    put('packages/ops/src/index.ts', `export * from './a.ts';\nexport { c as d } from './a.ts';\n`);
    put(
      'packages/ops/src/a.ts',
      '/** Yes. */\nexport const a = 1;\n// no\nexport const b = 1, c = 2;\n',
    );
    expect(findUndocumented(root).get('ops')).toEqual([
      'packages/ops/src/a.ts: b',
      'packages/ops/src/a.ts: c',
      'packages/ops/src/a.ts: d',
    ]);
  });
});

describe('check-contributing', () => {
  it('names folders that do not exist, catalogs without a row, and rows that come twice', () => {
    put('packages/ops/src/ops/catalog.ts', '');
    const row = '| an op | `packages/ops/src/ops/my-op.ts` | `catalog.ts` beside it | |\n';
    put('CONTRIBUTING.md', row);
    expect(checkContributing(root)).toEqual([]);
    put('CONTRIBUTING.md', '| a unit | `packages/gone/src/my-unit.ts` | [x](gone.md) | |\n');
    expect(checkContributing(root)).toEqual([
      'CONTRIBUTING.md: a unit goes into packages/gone/src, which does not exist.',
      'CONTRIBUTING.md links to gone.md, which does not exist.',
      'CONTRIBUTING.md has no row for packages/ops/src/ops/catalog.ts. Add one.',
    ]);
    put('CONTRIBUTING.md', row + row);
    expect(checkContributing(root)).toEqual([
      'CONTRIBUTING.md has two rows for an op. Remove one.',
    ]);
  });
});

describe('check-catalogs', () => {
  beforeEach(() => {
    put('packages/ops/src/ops/catalog.ts', `export { rmsNorm } from './rms-norm.ts';\n`);
    put('packages/ops/src/ops/rms-norm.ts', `import './rows.ts';\nexport const rmsNorm = 1;\n`);
    put('packages/ops/src/ops/rows.ts', 'export {};\n');
    put('packages/ops/src/ops/rms-norm.test.ts', '');
    put('kernels/cpu/catalog.inc', 'KERNEL(rmsNorm)\n');
    put('kernels/cpu/rms-norm.cc', '');
  });

  it('finds nothing where every unit is registered and parts of units are not', () => {
    expect(checkCatalogs(root)).toEqual([]);
  });

  it('names a unit that is not registered, with the line to add', () => {
    put('packages/ops/src/ops/layer-norm.ts', 'export const layerNorm = 1;\n');
    expect(checkCatalogs(root)).toEqual([
      'packages/ops/src/ops/layer-norm.ts is not registered. Add to packages/ops/src/ops/catalog.ts: ' +
        "export { layerNorm } from './layer-norm.ts';",
    ]);
  });

  it('names a line without its file, and a name that is not that of the file', () => {
    put(
      'packages/ops/src/ops/catalog.ts',
      `export { gone } from './gone.ts';\nexport { norm } from './rms-norm.ts';\n`,
    );
    expect(checkCatalogs(root)).toEqual([
      'packages/ops/src/ops/catalog.ts registers ./gone.ts, which does not exist.',
      'packages/ops/src/ops/catalog.ts exports norm from ./rms-norm.ts; call it rmsNorm.',
    ]);
  });

  it('names kernels without a line and lines without a kernel', () => {
    put('kernels/cpu/swiglu.cc', '');
    put('kernels/cpu/catalog.inc', 'KERNEL(rmsNorm)\nKERNEL(gemm)\n');
    expect(checkCatalogs(root)).toEqual([
      'kernels/cpu/catalog.inc registers gemm, but there is no gemm.cc or .cu.',
      'kernels/cpu/swiglu is not registered. Add to kernels/cpu/catalog.inc: KERNEL(swiglu)',
    ]);
  });
});

describe('setup', () => {
  it('takes the Node versions package.json names', () => {
    const isEnough = ['18.20.0', '20.18.9', '20.19.0', '21.7.0', '22.11.0', '22.12.0', '24.0.0'];
    expect(isEnough.map(isNodeRecentEnough)).toEqual([
      false,
      false,
      true,
      false,
      false,
      true,
      true,
    ]);
  });

  it('names all that is missing at once, each with the command that installs it', () => {
    const missing = findMissing(() => false);
    expect(missing.map((line) => line.split('.')[0])).toEqual([
      'Python 3',
      'CMake',
      'a C++17 compiler',
      'make',
    ]);
    expect(missing[1]).toContain('sudo apt-get install cmake');
    expect(findMissing(() => true)).toEqual([]);
    expect(findMissing((command) => command !== 'cmake')).toHaveLength(1);
  });
});

describe('algorithm-catalog', () => {
  const text = `/** A file. */
import { x } from './x.ts';

/**
 * One sentence
 * over two lines.
 *
 *   a = b + c
 *   d = e
 *
 * A paper, arXiv:0000.00000.
 *
 * @returns [N]
 */
export function unit(): number {
  return x;
}
`;

  it('reads sentence, equation and paper from the comment of a unit', () => {
    expect(commentOf(text, 'unit')).toEqual({
      sentence: 'One sentence over two lines.',
      equation: ['a = b + c', 'd = e'],
      paper: 'A paper, arXiv:0000.00000.',
    });
    expect(commentOf(text, 'other')).toBeUndefined();
  });

  it('says what to do where the packages are not compiled', async () => {
    expect(await checkAlgorithmCatalog(root)).toEqual([
      'packages/algorithms is not compiled. Run npx tsc -b packages/algorithms first.',
    ]);
  });
});

describe('check-constants', () => {
  it('finds numbers that have a name, whatever holds them, and no counts and signs', () => {
    const text = `
      const THRESHOLD = 0.5;
      const SIZE = 16 * 1024 ** 2;
      const SIGN = -1;
      const names = { first: 1, second: 2.5, length: 7 };
      export function f({ share = 0.25, from = 0 } = {}, options: { wait?: number } = {}) {
        const wait = options.wait ?? 60;
        return { dpi: 150, share, from, wait };
      }
    `;
    expect([...namedNumbers(text)]).toEqual([
      ['THRESHOLD', 2],
      ['SIZE', 3],
      ['second', 5],
      ['share', 6],
      ['wait', 7],
      ['dpi', 8],
    ]);
  });

  it('leaves out what describes a field', () => {
    const text = `const field = count({ min: 2, max: 9, default: 5, unit: 'steps', about: 'A.' });`;
    expect([...namedNumbers(text)]).toEqual([]);
  });

  it('takes a reason for a number, for a file and for a folder', () => {
    const reasons = {
      'packages/a/src/b.ts': { SIZE: 'The size.' },
      'packages/a/src/c.ts': 'The file.',
      'packages/a/src/d/': 'The folder.',
    };
    expect(reasonOf(reasons, 'packages/a/src/b.ts', 'SIZE')).toBe('The size.');
    expect(reasonOf(reasons, 'packages/a/src/b.ts', 'OTHER')).toBeUndefined();
    expect(reasonOf(reasons, 'packages/a/src/c.ts', 'OTHER')).toBe('The file.');
    expect(reasonOf(reasons, 'packages/a/src/d/e.ts', 'OTHER')).toBe('The folder.');
  });
});
