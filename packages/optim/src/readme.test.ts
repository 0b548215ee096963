/** The README's programs run and print what their comments say. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it, vi } from 'vitest';

const root = new URL('..', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');
const programs = [...readme.matchAll(/```ts run\n([\s\S]*?)```/g)].map(([, code]) => code ?? '');
// Inside the package, so that its imports are found.
const folder = mkdtempSync(join(new URL('src', root).pathname, '.readme-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function outputOf(index: number): Promise<readonly unknown[]> {
  const path = join(folder, `program-${index}.ts`);
  writeFileSync(path, programs[index] ?? '');
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await import(/* @vite-ignore */ pathToFileURL(path).href);
    return log.mock.calls.map(([printed]) => printed);
  } finally {
    log.mockRestore();
  }
}

it('steps with an optimizer', async () => {
  const [weights] = (await outputOf(0)) as [Float32Array];
  expect(Math.max(...weights.map(Math.abs))).toBeLessThan(0.1);
});

it('composes one', async () => {
  const [weight, bias, names] = (await outputOf(1)) as [Float32Array, Float32Array, string[]];
  expect([...weight].map((value) => Number(value.toFixed(6)))).toEqual([0.95, 1.9, 2.85, 3.8]);
  expect([...bias]).toEqual([1, 1]);
  expect(names).toEqual(['1.m.weight', '1.m.bias', '1.v.weight', '1.v.bias']);
});

it('names every optimizer and schedule', async () => {
  const { optimizers, schedules } = await import('./registry.ts');
  for (const name of [...optimizers.names, ...schedules.names]) {
    expect(readme).toContain(`\`${name}\``);
  }
});
