/** The effect of an import on a page: nothing native, and no more bytes than the docs say. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BROWSER_PACKAGES, bundleForBrowser, bundleWhole } from './browser-bundle.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** A size may be this share away from what is written down. */
const SLACK = 0.1;

/** Gzipped bytes by package, from the table in the docs. */
const written = new Map(
  [...read('docs/browser.md').matchAll(/^\| (\S+) +\| [\d.]+ kB +\| ([\d.]+) kB +\|$/gm)].map(
    ([, name, kilobytes]) => [name, 1000 * Number(kilobytes)],
  ),
);

/** The modules of a graph that have no place in a page that brings its own backend. */
const nativeModules = (modules: readonly string[], own: string): readonly string[] =>
  modules
    .filter(
      (path) =>
        path.endsWith('.node') ||
        /^(?:packages\/backend-|kernels\/|native\/)/.test(path) ||
        // Addons from npm: Dawn, sharp, headless WebGL.
        /node_modules\/(?:webgpu|sharp|gl|gpu\.js)\//.test(path),
    )
    .filter((path) => !path.startsWith(`packages/${own}/`));

describe.each(BROWSER_PACKAGES)('%s in a browser', (name) => {
  it('brings nothing native, and the size that the docs give', async () => {
    const { modules, builtins, gzipped } = await bundleWhole(name);
    expect(modules).toContain(`packages/${name}/src/index.ts`);
    expect(builtins).toEqual([]);
    const kernels = name === 'backend-webgpu' ? /^kernels\/webgpu\// : /^$/;
    expect(nativeModules(modules, name).filter((path) => !kernels.test(path))).toEqual([]);
    const expected = written.get(name) ?? Number.NaN;
    expect(Math.abs(gzipped / expected - 1), `${gzipped} bytes, docs: ${expected}`).toBeLessThan(
      SLACK,
    );
  });
});

it('the README of attention gives the size that the docs give', () => {
  const [, kilobytes] = /([\d.]+) kB gzipped/.exec(read('packages/attention/README.md')) ?? [];
  expect(1000 * Number(kilobytes)).toBe(written.get('attention'));
});

it('a page that builds plans alone gets less than a third of attention', async () => {
  const plans = await bundleForBrowser(
    'attention',
    `export { planSharedPrefix, planTree, planVarlen } from '@saccade/attention';`,
  );
  expect(plans.gzipped).toBeLessThan((written.get('attention') ?? 0) / 3);
});

it('native code would be seen', async () => {
  const sandbox = await bundleForBrowser('sandbox', `export * from '@saccade/sandbox';`);
  expect(sandbox.builtins).toContainEqual(expect.stringMatching(/^node:child_process in packages/));
  const native = await bundleForBrowser(
    'backend-native',
    `export * from '@saccade/backend-native';`,
  );
  expect(nativeModules(native.modules, 'attention')).toContain(
    'packages/backend-native/src/index.ts',
  );
});
