import { UnsupportedError } from '@saccade/core';
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
        report: {
          uid: 1,
          readsLibraries: true,
          limitsMemory: false,
          memoryObstacle,
          kernel: 'shared',
        },
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

it('tries kernels of their own where one is required, from the weaker to the stronger', async () => {
  const started: string[] = [];
  const choose = (kernel: 'emulated' | 'separate') =>
    startChosen({
      wanted: 'auto',
      required: { kernel },
      unsafe: true,
      limits: defaultLimits,
      users: chooseUsers(),
      python: 'python3',
      start: async ({ id }: { readonly id: string }) => {
        started.push(id);
        throw new UnsupportedError(`${id} is missing.`);
      },
    });
  await expect(choose('emulated')).rejects.toThrow(/"emulated".*gvisor is missing.*micro-vm is/);
  await expect(choose('separate')).rejects.toThrow(/"separate".*micro-vm is missing/);
  expect(started).toEqual(['gvisor', 'micro-vm', 'micro-vm']);
});

it('continues to a micro-VM where gVisor gives the kernel but not all else that is required', async () => {
  const started: string[] = [];
  const disposed: string[] = [];
  const sandbox = await startChosen({
    wanted: 'auto',
    required: { kernel: 'emulated', memory: 'session' },
    unsafe: false,
    limits: defaultLimits,
    users: chooseUsers(),
    python: 'python3',
    start: async ({ id }: { readonly id: string }) => {
      started.push(id);
      const isMachine = id === 'micro-vm';
      const kernel = isMachine ? 'separate' : 'emulated';
      const memory = isMachine ? 'session' : 'process';
      return {
        tier: id,
        report: { uid: 1, readsLibraries: true, limitsMemory: isMachine, kernel },
        guarantees: { kernel, memory },
        dispose: async () => void disposed.push(id),
      } as unknown as LocalSandbox;
    },
  });
  expect([sandbox.tier, started, disposed]).toEqual([
    'micro-vm',
    ['gvisor', 'micro-vm'],
    ['gvisor'],
  ]);
});

it.each([
  ['linux', /on this machine\. bubblewrap .* Install bubblewrap, or use a remote .*unsafe: true/],
  ['darwin', /on macOS\. Run in a Linux virtual machine or container.*serve sandbox.*unsafe: true/],
  ['win32', /on Windows\. Run in WSL 2 \(`wsl --install`\), or use a remote sandbox/],
] as const)('says on %s what helps there', async (platform, message) => {
  const before = process.platform;
  Object.defineProperty(process, 'platform', { value: platform });
  try {
    const choice = {
      ...({ wanted: 'auto', required: {}, unsafe: false, limits: defaultLimits } as const),
      ...{ users: chooseUsers(), python: 'python3' },
      start: async ({ id }: { readonly id: string }) => {
        throw new UnsupportedError(`${id} is missing.`);
      },
    };
    await expect(startChosen(choice)).rejects.toThrow(message);
    if (platform !== 'linux') await expect(startChosen(choice)).rejects.not.toThrow(/bubblewrap/);
  } finally {
    Object.defineProperty(process, 'platform', { value: before });
  }
});
