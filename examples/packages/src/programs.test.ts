/** The programs as a newcomer runs them; those of sandbox and page take `npm run pack-programs`. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const folder = fileURLToPath(new URL('..', import.meta.url));

it.each([
  ['losses', /^grpo: loss .*\ndapo: loss .*\ntapo: loss \S+, gradient norm \S+\n$/],
  ['attention', /^40 tokens, out and 3 gradients: at most \S+ from float64$/m],
  ['logprobs', /^gradient of the hidden states: norm \d/m],
  ['rewards', /^1\.1 .*\n1 .*\n0 /m],
])('%s says what it promises', (name, says) => {
  const said = execFileSync(process.execPath, [`dist/${name}.js`], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(said).toMatch(says);
});

it.each(['losses', 'attention', 'logprobs', 'rewards', 'sandbox', 'page'])(
  '%s is short, and asserts nothing away',
  (name) => {
    const text = readFileSync(`${folder}/src/${name}.ts`, 'utf8');
    expect(text.split('\n').length).toBeLessThan(65);
    expect(text).not.toMatch(/[\w)\]]!|\bas [A-Z{(]|\bany\b|@ts-/);
  },
);
