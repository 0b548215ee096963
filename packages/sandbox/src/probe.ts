/** Finds what this machine offers to a sandbox, and why it does not offer the rest. */
import { messageOf } from '@saccade/core';
import type { Guarantees, IsolationReport } from './guarantees.ts';
import { emulationReason } from './isolations/micro-vm.ts';
import { openSandbox } from './open-sandbox.ts';
import {
  findCommand,
  inspectPython,
  type PythonInterpreter,
  runForText,
} from './python-interpreter.ts';
import { type LocalTier, localTiers } from './tiers.ts';

/** One isolation, tried for real: a server was started in it and tried to get out. */
export interface TierProbe {
  readonly tier: LocalTier;
  readonly isUsable: boolean;
  readonly report?: IsolationReport;
  readonly guarantees?: Guarantees;
  readonly warnings: readonly string[];
  /** Why it is not usable, and what to do. */
  readonly reason?: string;
}

/** The machine's support for sandboxes, as `probeSandbox` finds it. `saccade doctor` prints it. */
export interface SandboxProbe {
  readonly python?: PythonInterpreter;
  /** Why there is no usable Python. */
  readonly pythonReason?: string;
  /** e.g. `bubblewrap 0.8.0`. */
  readonly bubblewrapVersion?: string;
  readonly hasUserNamespaces: boolean;
  readonly tiers: readonly TierProbe[];
}

/** Looks at Python, bubblewrap and namespaces, and starts each isolation once. Never throws. */
export async function probeSandbox(python = 'python3'): Promise<SandboxProbe> {
  const [interpreter, version, hasUserNamespaces] = await Promise.all([
    inspectPython(python).catch((error: unknown) => messageOf(error)),
    runForText(findCommand('bwrap') ?? 'bwrap', ['--version']).catch(() => undefined),
    tryUserNamespaces(),
  ]);
  const tiers: TierProbe[] = [];
  if (typeof interpreter !== 'string') {
    for (const tier of localTiers) tiers.push(await probeTier(tier, python));
  }
  return {
    ...(typeof interpreter === 'string' ? { pythonReason: interpreter } : { python: interpreter }),
    ...(version === undefined ? {} : { bubblewrapVersion: version.trim() }),
    hasUserNamespaces,
    tiers,
  };
}

async function probeTier(tier: TierProbe['tier'], python: string): Promise<TierProbe> {
  const obstacle = tier === 'micro-vm' ? await emulationReason() : undefined;
  if (obstacle !== undefined) {
    const remedy = 'It works all the same, but takes minutes to start and was not tried.';
    return { tier, isUsable: false, warnings: [], reason: `${obstacle} ${remedy}` };
  }
  try {
    const sandbox = await openSandbox({ python, isolation: tier, unsafe: true, maxSessions: 1 });
    const { report, guarantees, warnings } = sandbox;
    await sandbox.dispose();
    return { tier, isUsable: true, report, guarantees, warnings };
  } catch (error) {
    return { tier, isUsable: false, warnings: [], reason: messageOf(error) };
  }
}

async function tryUserNamespaces(): Promise<boolean> {
  try {
    await runForText('unshare', ['--user', '--map-root-user', 'true']);
    return true;
  } catch {
    return false;
  }
}
