/** What the scripts that pack and release decide; `npm run pack-check` and `pack-test` do the rest. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { glibcVersions } from '../native/prebuild.mjs';
import { installedBytes } from './installed-size.mjs';
import { addressOf, checkManifests } from './manifests.mjs';
import { plainManifest, readCatalog } from './pack.mjs';
import { withOwnZod } from './pack-bundle.mjs';
import { parseChangeset, withSection } from './version.mjs';

let root: string;

function put(path: string, content: unknown): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(root, path), text);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'saccade-packaging-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const complete = {
  name: '@saccade/core',
  description: 'Words.',
  keywords: ['a', 'b', 'c'],
  license: 'MIT',
  type: 'module',
  engines: { node: '>=20' },
  exports: {},
  files: ['dist', '!dist/**/*.tsbuildinfo', '!dist/**/*.map', '!dist/**/*.fixture.*'],
  publishConfig: { access: 'public', provenance: true },
};

describe('manifests', () => {
  beforeEach(() => {
    put('package.json', { private: true, license: 'MIT', engines: { node: '>=20' } });
    put('packages/core/package.json', complete);
    put('packages/core/README.md', '# core\n\nnpm install @saccade/core\n');
  });

  it('finds nothing in manifests that agree with the root', () => {
    expect(checkManifests(root)).toEqual([]);
  });

  it('asks for the fields of a repository once the root has one', () => {
    const repository = { type: 'git', url: 'git+https://forge.example/us/saccade.git' };
    put('package.json', { license: 'MIT', engines: { node: '>=20' }, repository });
    const problems = checkManifests(root).join('\n');
    expect(problems).toContain('"directory":"packages/core"');
    expect(problems).toContain('https://forge.example/us/saccade/tree/main/packages/core#readme');
    expect(problems).toContain('https://forge.example/us/saccade/issues');
  });

  it.each([
    ['git+https://forge.example/us/saccade.git'],
    ['https://forge.example/us/saccade/'],
    [{ url: 'https://forge.example/us/saccade' }],
  ])('reads the address of %j', (repository) => {
    expect(addressOf(repository)).toBe('https://forge.example/us/saccade');
  });

  it('names what is left to a person', () => {
    put('packages/core/package.json', { ...complete, keywords: ['a'], description: '' });
    put('packages/core/README.md', '# core\n');
    expect(checkManifests(root)).toEqual([
      'packages/core/package.json has no description. Write one sentence.',
      'packages/core/package.json has fewer than 3 keywords. Add what people search for.',
      'packages/core/README.md does not say `npm install @saccade/core`. ' +
        'Put it below its first sentences.',
    ]);
  });

  it('asks for a message that names an optional peer in its version', () => {
    const peers = {
      peerDependencies: { sharp: '0.35' },
      peerDependenciesMeta: { sharp: { optional: true } },
    };
    put('packages/core/package.json', { ...complete, ...peers });
    put('packages/core/src/index.ts', "import('sharp');\n");
    expect(checkManifests(root).join()).toContain('no message of its code says sharp@0.35');
    put(
      'packages/core/src/index.ts',
      "importOptional('sharp@0.35', 'x', () => import('sharp'));\n",
    );
    expect(checkManifests(root)).toEqual([]);
  });
});

describe('pack', () => {
  it('reads the catalog, quoted names included', () => {
    put(
      'pnpm-workspace.yaml',
      'packages:\n  - x\n\ncatalog:\n  zod: ^4.6.0\n  "@a/b": 1.2.3\n\nother: 1\n',
    );
    expect([...readCatalog(root)]).toEqual([
      ['zod', '^4.6.0'],
      ['@a/b', '1.2.3'],
    ]);
  });

  it('writes versions that npm understands and leaves out what only the clone uses', () => {
    const manifest = {
      name: '@saccade/ops',
      exports: {
        '.': {
          '@saccade/source': './src/index.ts',
          types: './dist/index.d.ts',
          default: './dist/index.js',
        },
        './package.json': './package.json',
      },
      imports: { '#disk': { '@saccade/source': './src/disk.ts', default: './dist/disk.js' } },
      dependencies: { '@saccade/core': 'workspace:^', zod: 'catalog:', exact: '1.0.0' },
      devDependencies: { vitest: 'catalog:' },
    };
    const versions = new Map([['@saccade/core', '0.3.0']]);
    expect(plainManifest(manifest, versions, new Map([['zod', '^4.6.0']]))).toEqual({
      name: '@saccade/ops',
      exports: {
        '.': { types: './dist/index.d.ts', default: './dist/index.js' },
        './package.json': './package.json',
      },
      imports: { '#disk': { default: './dist/disk.js' } },
      dependencies: { '@saccade/core': '^0.3.0', '@saccade/zod': '^0.3.0', exact: '1.0.0' },
    });
  });
});

describe('the part of zod', () => {
  it('is imported in the place of zod, by modules and declarations', () => {
    expect(withOwnZod("import { z } from 'zod';")).toBe("import * as z from '@saccade/zod';");
    expect(withOwnZod('import type { z } from "zod";')).toBe(
      'import type * as z from "@saccade/zod";',
    );
    expect(withOwnZod("export { z } from 'zod';")).toBe("export * as z from '@saccade/zod';");
    const declared = 'a: import("zod").ZodObject<{}, import("zod/v4/core").$strict>;';
    expect(withOwnZod(declared)).toBe(
      'a: import("@saccade/zod").ZodObject<{}, import("@saccade/zod").core.$strict>;',
    );
    expect(withOwnZod("import { a } from 'zodiac';")).toBe("import { a } from 'zodiac';");
  });
});

describe('installed size', () => {
  it('counts a package and what it depends on, once each, and no optional peer', () => {
    const manifest = (name: string, more = {}) => JSON.stringify({ name, ...more });
    const a = manifest('a', {
      dependencies: { b: '1', c: '1' },
      optionalDependencies: { absent: '1' },
      peerDependencies: { d: '1' },
      peerDependenciesMeta: { d: { optional: true } },
    });
    put('node_modules/a/package.json', a);
    put('node_modules/a/node_modules/c/package.json', manifest('c'));
    put('node_modules/b/package.json', manifest('b', { dependencies: { a: '1' } }));
    put('node_modules/d/package.json', manifest('d'));
    const [alone, all] = [true, false].map((isAlone) =>
      installedBytes(join(root, 'node_modules/a'), { isAlone }),
    );
    expect(alone).toBe(a.length);
    const others = manifest('c').length + manifest('b', { dependencies: { a: '1' } }).length;
    expect(all).toBe(a.length + others);
  });
});

describe('prebuild', () => {
  it('reads the versions of glibc that a binary asks for, newest last', () => {
    const symbols = `
      1: 0000 0 FUNC GLOBAL DEFAULT UND exp@GLIBC_2.2.5 (3)
      2: 0000 0 FUNC GLOBAL DEFAULT UND memcpy@GLIBC_2.14 (4)
      3: 0000 0 FUNC GLOBAL DEFAULT UND log@GLIBC_2.29 (5)
      4: 0000 0 FUNC GLOBAL DEFAULT UND _Unwind_Resume@GCC_3.0 (6)`;
    expect(glibcVersions(symbols)).toEqual(['2.2.5', '2.14', '2.29']);
    expect(glibcVersions('')).toEqual([]);
  });
});

describe('version', () => {
  it('reads the largest change and the text of a changeset', () => {
    const text = '---\n"@saccade/ops": patch\n"@saccade/core": minor\n---\n\nCalls are typed.\n';
    expect(parseChangeset(text)).toEqual({ size: 'minor', summary: 'Calls are typed.' });
  });

  it('is given changesets whose front matter names packages of the workspace and nothing else', () => {
    const clone = fileURLToPath(new URL('../', import.meta.url));
    const inFolder = (name: string): string[] =>
      readdirSync(join(clone, name)).map((entry) => join(clone, name, entry, 'package.json'));
    const known = [
      join(clone, 'native/package.json'),
      ...inFolder('packages'),
      ...inFolder('kernels'),
    ]
      .filter(existsSync)
      .map((path): string => JSON.parse(readFileSync(path, 'utf8')).name);
    const folder = join(clone, '.changeset');
    for (const file of readdirSync(folder).filter((name) => /^(?!README).*\.md$/.test(name))) {
      const text = readFileSync(join(folder, file), 'utf8');
      const [, front = ''] = /^---\n((?:".+": (?:patch|minor|major)\n)+)---\n\n\S/.exec(text) ?? [];
      const named = [...front.matchAll(/^"(.+)":/gm)].map(([, name]) => name);
      expect(named, `${file} has no front matter that changesets read`).not.toEqual([]);
      expect(known, file).toEqual(expect.arrayContaining(named));
    }
  });

  it('puts a section above the older ones, the largest changes first', () => {
    const old = '# Changelog\n\nAll.\n\n## 0.1.0\n\n- First.\n';
    const changes = [
      { size: 'patch', summary: 'Fixed.' },
      { size: 'minor', summary: 'New,\nand long.' },
    ];
    expect(withSection(old, '0.2.0', changes)).toBe(
      '# Changelog\n\nAll.\n\n## 0.2.0\n\n- New,\n  and long.\n- Fixed.\n\n## 0.1.0\n\n- First.\n',
    );
    expect(withSection('# Changelog\n', '0.1.0', changes.slice(0, 1))).toBe(
      '# Changelog\n\n## 0.1.0\n\n- Fixed.\n',
    );
  });
});
