/** Calls of every op are typed by its definition: `device.forward(linearLogprob, …)` has `logprobs`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const packages = fileURLToPath(new URL('../packages', import.meta.url));

it.each(['ops', 'attention', 'logprob'])('%s defines its ops with defineOp', (name) => {
  const folder = join(packages, name, 'src', 'ops');
  const catalog = readFileSync(join(folder, 'catalog.ts'), 'utf8');
  const exported = [...catalog.matchAll(/^export \{ (\w+) \} from '\.\/(.+)';$/gm)];
  expect(exported.length).toBeGreaterThan(2);
  expect(exported.length).toBe(catalog.match(/^export /gm)?.length);
  for (const [, op, file] of exported) {
    // An annotation such as `: Op` would forget what the op declares.
    expect(readFileSync(join(folder, file ?? ''), 'utf8')).toContain(`const ${op} = defineOp(`);
  }
  expect(readdirSync(folder)).toContain('catalog.ts');
});
