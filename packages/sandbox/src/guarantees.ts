/** A sandbox's guarantees, as found by attacks at its start, and those that a caller requires. */
import { UnsupportedError } from '@saccade/core';
import type { Kernel, MachineReport } from './isolation.ts';
import type { Limits } from './limits.ts';

/** The server's findings when it tried, as a session would, to get out. */
export interface IsolationReport {
  readonly uid: number;
  readonly seesHostFiles: boolean;
  /** Not what is in them, but that they are there, their sizes and times. */
  readonly seesHostPaths: boolean;
  readonly reachesNetwork: boolean;
  readonly makesSockets: boolean;
  /** To sockets of the host, past Landlock. */
  readonly sendsDatagrams: boolean;
  /** Modes and times of the host's files that belong to its user. */
  readonly changesMetadata: boolean;
  /** A call that is not on the list; see `python/system_calls.py`. */
  readonly makesUnlistedCalls: boolean;
  readonly writesSystem: boolean;
  readonly readsLibraries: boolean;
  /** The server's and another session's processes. */
  readonly seesProcesses: boolean;
  readonly signalsOthers: boolean;
  readonly readsMemoryOfOthers: boolean;
  readonly tracesOthers: boolean;
  /** Resource limits and priorities of the server and of another session. */
  readonly limitsOthers: boolean;
  readonly readsFilesOfOthers: boolean;
  readonly writesOutside: boolean;
  readonly makesNamespaces: boolean;
  readonly makesIoUring: boolean;
  /** Processes that one session could start, counted up to four above the limit. */
  readonly processLimit: number;
  /** Version of the kernel's Landlock in force; 0 without. */
  readonly landlockAbi: number;
  /** Whether each session has namespaces, and with them a disk of limited size, of its own. */
  readonly hasNamespaces: boolean;
  readonly namespacesObstacle?: string;
  /** Whether each session has a server, and with it all that isolates the server, for itself. */
  readonly hasOwnServer: boolean;
  /** Whether each session's memory is limited as a whole. */
  readonly limitsMemory: boolean;
  /** Why not. */
  readonly memoryObstacle?: string;
  /** Whether each session gets as much of the processors, or of the disks, as any other. */
  readonly sharesCpu: boolean;
  readonly sharesIo: boolean;
  /** Why not, by controller. */
  readonly sharesObstacles?: Readonly<Record<string, string>>;
  /** The kind of kernel that runs the system calls of sessions. */
  readonly kernel: Kernel;
  /** Why it is not the one that the tier is made for. */
  readonly kernelObstacle?: string;
  /** The engine of the virtual machine, where there is one. */
  readonly machine?: MachineReport;
  /** Why it could not try. */
  readonly failure?: string;
}

/** Each from the strongest to the weakest. */
const levels = {
  /**
   * `separate`: a kernel in a virtual machine runs the system calls of sessions; `emulated`: gVisor's
   * kernel, a process of this machine; `shared`: the machine's own kernel.
   */
  kernel: ['separate', 'emulated', 'shared'],
  /** `none`: code can make no connection, not even to the machine it runs on. */
  network: ['none', 'host'],
  /**
   * `isolated`: code reads the libraries and its own directory, and changes the latter: contents,
   * names, modes, times.
   */
  files: ['isolated', 'user'],
  /** `hidden`: code cannot ask for paths, sizes and times of the machine's files either. */
  paths: ['hidden', 'visible'],
  /** `separate`: code cannot read, signal, trace or limit other sessions and the server. */
  sessions: ['separate', 'shared'],
  /** `hidden`: code does not see that there are others. */
  processes: ['hidden', 'visible'],
  /** `filtered`: the kernel takes only the calls that sessions need, and refuses those it will learn. */
  systemCalls: ['filtered', 'all'],
  /** `session`: the number of processes is limited for each session by itself. */
  processLimit: ['session', 'shared'],
  /** `session`: a full disk is only the session's own. */
  disk: ['session', 'shared'],
  /** `session`: all processes of a session and its files together; else each process by itself. */
  memory: ['session', 'process'],
  /** `session`: sessions get equal shares of the processors; else each process does. */
  cpu: ['session', 'process'],
  /** `session`: sessions get equal shares of the disks; else each process does. */
  io: ['session', 'process'],
} as const;

type Levels = typeof levels;

/** The guarantees that hold, as words that are readable in a log. */
export type Guarantees = { readonly [Name in keyof Levels]: Levels[Name][number] };

/** Guarantees that a sandbox needs to be opened; those that are not named may have any value. */
export type Requirements = Partial<Guarantees>;

export function guaranteesOf(report: IsolationReport, limits: Limits): Guarantees {
  const { readsMemoryOfOthers, tracesOthers, limitsOthers, signalsOthers } = report;
  const touchesOthers = readsMemoryOfOthers || tracesOthers || limitsOthers || signalsOthers;
  const { makesNamespaces, makesIoUring, makesUnlistedCalls, reachesNetwork } = report;
  // A tier that leaves code the network leaves it the calls for it.
  const makesSockets = report.makesSockets && !reachesNetwork;
  const makesForbidden = makesNamespaces || makesIoUring || makesUnlistedCalls || makesSockets;
  const { seesHostFiles, writesOutside, writesSystem, changesMetadata } = report;
  const changesFiles = writesOutside || writesSystem || changesMetadata;
  // gVisor does not count the first one; alone in a kernel, a session shares its limit with nobody.
  const mostProcesses = limits.processes + (report.hasOwnServer ? 1 : 0);
  return {
    kernel: report.kernel,
    network: reachesNetwork || report.sendsDatagrams ? 'host' : 'none',
    files: seesHostFiles || changesFiles ? 'user' : 'isolated',
    paths: report.seesHostPaths ? 'visible' : 'hidden',
    sessions: touchesOthers || report.readsFilesOfOthers ? 'shared' : 'separate',
    processes: report.seesProcesses ? 'visible' : 'hidden',
    systemCalls: makesForbidden ? 'all' : 'filtered',
    processLimit: report.processLimit < mostProcesses ? 'session' : 'shared',
    disk: report.hasNamespaces || report.hasOwnServer ? 'session' : 'shared',
    memory: report.limitsMemory ? 'session' : 'process',
    cpu: report.sharesCpu ? 'session' : 'process',
    io: report.sharesIo ? 'session' : 'process',
  };
}

/** A guarantee that was required and does not hold here. */
export interface MissingGuarantee {
  readonly name: keyof Guarantees;
  readonly required: string;
  readonly found: string;
}

/** This machine cannot give what the caller requires. */
export class RequirementError extends UnsupportedError {
  readonly missing: readonly MissingGuarantee[];

  constructor(tier: string, missing: readonly MissingGuarantee[], reasons: readonly string[]) {
    const list = missing.map(({ name, required, found }) => {
      return `${name} is "${found}", "${required}" is required`;
    });
    const why = reasons.length === 0 ? '' : ` (${reasons.join(' ')})`;
    super(
      `The strongest sandbox here, tier "${tier}", does not give what is required: ` +
        `${list.join('; ')}${why}. \`saccade doctor\` shows what each tier gives here; run on a ` +
        'machine that gives more, use a remote sandbox, or require less.',
    );
    this.missing = missing;
  }
}

/** The requirements that do not hold. */
export function missingGuarantees(
  required: Requirements,
  found: Guarantees,
): readonly MissingGuarantee[] {
  const missing: MissingGuarantee[] = [];
  for (const name of Object.keys(levels) as (keyof Levels)[]) {
    const wanted = required[name];
    const order: readonly string[] = levels[name];
    if (wanted === undefined || order.indexOf(found[name]) <= order.indexOf(wanted)) continue;
    missing.push({ name, required: wanted, found: found[name] });
  }
  return missing;
}
