/** Picks the strongest isolation that holds here, by starting it and letting it be attacked. */
import { messageOf, UnsupportedError } from '@saccade/core';
import { SandboxError } from './errors.ts';
import {
  type Guarantees,
  guaranteesOf,
  missingGuarantees,
  RequirementError,
  type Requirements,
} from './guarantees.ts';
import type { Isolation, Kernel } from './isolation.ts';
import { bubblewrapIsolation } from './isolations/bubblewrap.ts';
import { gvisorIsolation } from './isolations/gvisor.ts';
import { landlockIsolation } from './isolations/landlock.ts';
import { microVmIsolation } from './isolations/micro-vm.ts';
import { processIsolation } from './isolations/process.ts';
import type { Limits } from './limits.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import type { LocalTier } from './tiers.ts';
import type { SessionUsers } from './users.ts';

/** Tiers that `auto` tries, in order. A separate kernel costs time: it is used only on request. */
function automaticTiers(kernel: Kernel): readonly LocalTier[] {
  if (kernel === 'separate') return ['micro-vm'];
  if (kernel === 'emulated') return ['gvisor', 'micro-vm'];
  return ['bubblewrap', 'landlock', 'process'];
}

const isolations: Readonly<Record<LocalTier, Isolation>> = {
  'micro-vm': microVmIsolation,
  gvisor: gvisorIsolation,
  bubblewrap: bubblewrapIsolation,
  landlock: landlockIsolation,
  process: processIsolation,
};

/** Without these a tier is not what its name says. */
const promised: Readonly<Record<LocalTier, Requirements>> = {
  'micro-vm': { kernel: 'emulated', network: 'none', files: 'isolated' },
  gvisor: { kernel: 'emulated', network: 'none', files: 'isolated' },
  bubblewrap: { network: 'none', files: 'isolated' },
  landlock: { network: 'none', files: 'isolated', systemCalls: 'filtered' },
  process: {},
};

export interface Choice {
  /** The tier to use, or `auto` for the strongest. */
  readonly wanted: LocalTier | 'auto';
  readonly required: Requirements;
  readonly unsafe: boolean;
  readonly limits: Limits;
  readonly users: SessionUsers;
  /** Path of the interpreter, for messages. */
  readonly python: string;
  start(
    isolation: Isolation,
    users: SessionUsers,
    warnings: readonly string[],
  ): Promise<LocalSandbox>;
}

/**
 * @throws UnsupportedError if no tier holds but `process`, which only `unsafe` allows
 * @throws RequirementError if the tier gives less than is required
 */
export async function startChosen(choice: Choice): Promise<LocalSandbox> {
  const { wanted } = choice;
  if (wanted !== 'auto') return await startTier(wanted, choice, []);
  const failures: string[] = [];
  const { kernel = 'shared' } = choice.required;
  const tiers = automaticTiers(kernel);
  for (const tier of tiers) {
    if (tier === 'process' && !choice.unsafe) break;
    try {
      return await startTwice(tier, choice, failures);
    } catch (error) {
      // The tier works but gives too little, and those after it give less; where a kernel is
      // required, they give more.
      const isLast = tier === tiers.at(-1);
      if (error instanceof RequirementError && (kernel === 'shared' || isLast)) throw error;
      if (tier === 'process') throw error;
      failures.push(`${tier} is not usable here: ${messageOf(error)}`);
    }
  }
  if (kernel !== 'shared') {
    throw new UnsupportedError(
      `Nothing on this machine gives sessions a kernel that is "${kernel}". ${failures.join(' ')} ` +
        'Install what is missing, require less, or use a remote sandbox.',
    );
  }
  const { platform } = process;
  const found = platform === 'linux' ? `${failures.join(' ')} ` : '';
  throw new UnsupportedError(
    `No isolation holds on ${PLATFORMS[platform] ?? 'this machine'}. ${found}${remedyOn(platform)}`,
  );
}

const PLATFORMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'macOS',
  win32: 'Windows',
};

/** What to do where nothing isolates. Bubblewrap and Landlock are parts of Linux. */
function remedyOn(platform: NodeJS.Platform): string {
  const unsafe =
    '`unsafe: true` (`--set sandbox.unsafe=true`) runs submitted code as a plain process, with your ' +
    'files and network.';
  const remote =
    'or use a remote sandbox: `saccade serve sandbox` on a Linux machine, then `--set sandbox=remote ' +
    '--set sandbox.hosts=<its address>`';
  if (platform === 'win32') return `Run in WSL 2 (\`wsl --install\`), ${remote}.`;
  if (platform !== 'darwin') return `Install bubblewrap, ${remote}; ${unsafe}`;
  return `Run in a Linux virtual machine or container, such as Docker or Lima, ${remote}; ${unsafe}`;
}

/** A server that dies while it starts says nothing of its tier: it gets a second chance. */
async function startTwice(
  tier: LocalTier,
  choice: Choice,
  failures: readonly string[],
): Promise<LocalSandbox> {
  try {
    return await startTier(tier, choice, failures);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return await startTier(tier, choice, failures);
  }
}

async function startTier(
  tier: LocalTier,
  choice: Choice,
  failures: readonly string[],
): Promise<LocalSandbox> {
  const warnings = [...failures];
  const sandbox =
    tier === 'process'
      ? await startProcess(choice, warnings)
      : await startIsolated(tier, choice, warnings);
  const missing = missingGuarantees(choice.required, sandbox.guarantees);
  if (missing.length > 0) {
    await sandbox.dispose();
    const { namespacesObstacle, memoryObstacle, kernelObstacle, sharesObstacles } = sandbox.report;
    const obstacles = [kernelObstacle, namespacesObstacle].filter((one) => one !== undefined);
    const reasons = [...failures, ...obstacles];
    const isMemory = missing.some(({ name }) => name === 'memory');
    if (isMemory && memoryObstacle !== undefined) reasons.push(memoryObstacle);
    for (const { name } of missing) reasons.push(...[sharesObstacles?.[name] ?? []].flat());
    throw new RequirementError(tier, missing, reasons);
  }
  return sandbox;
}

const broken: Readonly<Partial<Record<keyof Guarantees, string>>> = {
  kernel: 'code runs on the kernel of this machine',
  network: 'code reaches the network',
  files: 'code reaches files outside its directory',
  systemCalls: 'the kernel takes calls that should be refused',
};

/** @throws UnsupportedError if it runs but does not keep its promise */
async function startIsolated(
  tier: Exclude<LocalTier, 'process'>,
  choice: Choice,
  warnings: string[],
): Promise<LocalSandbox> {
  const sandbox = await choice.start(isolations[tier], choice.users, warnings);
  const { uid, failure, readsLibraries, kernelObstacle, machine } = sandbox.report;
  const isRoot = uid === 0 && choice.users.isKernelRoot;
  const facts = missingGuarantees(promised[tier], guaranteesOf(sandbox.report, choice.limits));
  const list = [
    ...(failure === undefined ? [] : [failure]),
    ...(failure === undefined ? facts.map(({ name }) => broken[name] ?? name) : []),
    ...(failure === undefined && !readsLibraries
      ? [`code cannot read the Python libraries at ${choice.python}`]
      : []),
    ...(isRoot ? ['code runs as root, because there is no other user to be'] : []),
  ];
  for (const obstacle of [kernelObstacle, machine?.obstacle]) {
    if (obstacle !== undefined) warnings.push(obstacle);
  }
  if (list.length === 0) return sandbox;
  await sandbox.dispose();
  throw new UnsupportedError(
    `${tier} starts but does not isolate: ${list.join('; ')}. Check the machine's settings for ` +
      'namespaces and Landlock (`saccade doctor`), or use a remote sandbox.',
  );
}

async function startProcess(choice: Choice, warnings: string[]): Promise<LocalSandbox> {
  if (!choice.unsafe) {
    throw new UnsupportedError(
      'Isolation "process" isolates nothing: submitted code can use your files and your network. ' +
        'Use "bubblewrap" or "landlock", or say `unsafe: true`.',
    );
  }
  if (processIsolation.warning !== undefined) warnings.push(processIsolation.warning);
  const { users } = choice;
  const sandbox = await choice.start(processIsolation, users, warnings);
  const { uid, failure, readsLibraries } = sandbox.report;
  const isRoot = uid === 0 && users.isKernelRoot;
  if (failure === undefined && readsLibraries && !isRoot) return sandbox;
  await sandbox.dispose();
  if (users.base === null && !isRoot) {
    throw new SandboxError(`The sandbox cannot run code: ${failure ?? 'it reads no libraries'}.`);
  }
  const why = isRoot
    ? 'there is no other user to run it as'
    : `another user cannot ${failure === undefined ? 'read the Python libraries' : `start (${failure})`}`;
  warnings.push(`Submitted code runs as root, because \`unsafe\` is set and ${why}.`);
  return await choice.start(processIsolation, { ...users, base: null }, warnings);
}
