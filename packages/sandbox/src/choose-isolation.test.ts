import { expect, it } from 'vitest';
import { startChosen } from './choose-isolation.ts';
import { SandboxError } from './errors.ts';
import { defaultLimits } from './limits.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import { chooseUsers } from './users.ts';

it('gives a tier whose server dies while it starts a second chance, then says why it is out', async () => {
  const started: string[] = [];
  const choice = {
    wanted: 'auto',
    required: {},
    unsafe: false,
    limits: defaultLimits,
    users: chooseUsers(),
    python: 'python3',
    start: async ({ id }: { readonly id: string }) => {
      started.push(id);
      throw new SandboxError(`attempt ${started.length} was killed.`);
    },
  } as const;
  await expect(startChosen(choice)).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/bubblewrap .*attempt 2 .*landlock .*attempt 4 .*unsafe: true/),
  });
  expect(started).toEqual(['bubblewrap', 'bubblewrap', 'landlock', 'landlock']);
});

it('says why the memory of a session is not limited as a whole, where that is required', async () => {
  const memoryObstacle = 'The control groups are mounted read-only.';
  const disposed: string[] = [];
  const choice = {
    wanted: 'bubblewrap',
    required: { memory: 'session' },
    unsafe: false,
    limits: defaultLimits,
    users: chooseUsers(),
    python: 'python3',
    start: async ({ id }: { readonly id: string }) =>
      ({
        tier: id,
        report: { uid: 1, readsLibraries: true, limitsMemory: false, memoryObstacle },
        guarantees: { memory: 'process' },
        dispose: async () => void disposed.push(id),
      }) as unknown as LocalSandbox,
  } as const;
  await expect(startChosen(choice)).rejects.toMatchObject({
    name: 'RequirementError',
    missing: [{ name: 'memory', required: 'session', found: 'process' }],
    message: expect.stringContaining(memoryObstacle),
  });
  expect(disposed).toEqual(['bubblewrap']);
});
