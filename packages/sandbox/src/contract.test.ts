import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { contractLimits, sandboxChecks } from './contract.ts';
import { refuseEmulation } from './isolations/emulation.fixture.ts';
import { openSandbox } from './open-sandbox.ts';
import { ensurePython } from './python-environment.ts';
import { openRemoteSandbox } from './remote/remote-sandbox.ts';
import { openSandboxService } from './service.ts';
import type { Sandbox } from './session.ts';
import { type LocalTier, localTiers } from './tiers.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');

interface Opened {
  readonly sandbox: Sandbox;
  dispose(): Promise<void>;
}

const tiers: readonly (readonly [string, (python: string) => Promise<Opened>])[] = [
  ...localTiers.map((tier) => [tier, (python: string) => local(python, tier)] as const),
  ['remote', remote],
];

async function local(python: string, isolation: LocalTier): Promise<Opened> {
  if (isolation === 'micro-vm') await refuseEmulation();
  const sandbox = await openSandbox({ python, isolation, unsafe: true, limits: contractLimits });
  return { sandbox, dispose: () => sandbox.dispose() };
}

/** Two services on this machine, over HTTP. */
async function remote(python: string): Promise<Opened> {
  const services = await Promise.all(
    [1, 2].map(async () => {
      const sandbox = await openSandbox({ python, limits: contractLimits });
      return await openSandboxService({ sandbox, token: 'for the contract' });
    }),
  );
  const hosts = services.map(({ url }) => url);
  const sandbox = await openRemoteSandbox({ hosts, token: 'for the contract' });
  return {
    sandbox,
    dispose: async () => {
      await sandbox.dispose();
      await Promise.all(services.map((service) => service.drain()));
    },
  };
}

for (const [tier, open] of tiers) {
  describe(`the ${tier} tier`, () => {
    // Starting a kernel for each of many at once would take their time from the limits.
    const check = tier === 'micro-vm' || tier === 'gvisor' ? it : it.concurrent;
    let opened: Opened | undefined;
    let reason = '';

    beforeAll(async () => {
      const { python } = await ensurePython(environment);
      try {
        opened = await open(python);
      } catch (error) {
        reason = String(error); // shown at every test that is skipped for it
      }
    }, 300_000);

    afterAll(() => opened?.dispose());

    for (const { name, run } of sandboxChecks) {
      check(name, async (context) => {
        if (opened === undefined) return context.skip(reason);
        await run(opened.sandbox);
      });
    }
  });
}
