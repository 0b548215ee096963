import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { localTiers } from './choose-isolation.ts';
import { contractLimits, sandboxChecks } from './contract.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import { openSandbox } from './open-sandbox.ts';
import { ensurePython } from './python-environment.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');

for (const isolation of localTiers) {
  describe(`the ${isolation} tier`, () => {
    let sandbox: LocalSandbox | undefined;
    let reason = '';

    beforeAll(async () => {
      const { python } = await ensurePython(environment);
      try {
        sandbox = await openSandbox({ python, isolation, unsafe: true, limits: contractLimits });
      } catch (error) {
        reason = String(error); // shown at every test that is skipped for it
      }
    }, 300_000);

    afterAll(() => sandbox?.dispose());

    for (const { name, run } of sandboxChecks) {
      it.concurrent(name, async (context) => {
        if (sandbox === undefined) return context.skip(reason);
        await run(sandbox);
      });
    }
  });
}
