/** An isolation puts the fork server into a place of its own; how strong the walls are, it says. */
import type { Socket } from 'node:net';
import type { MemoryGroups, ShareGroups } from './control-groups.ts';
import type { PythonInterpreter } from './python-interpreter.ts';

/** The plan of a server's launch. */
export interface LaunchPlan {
  readonly interpreter: PythonInterpreter;
  /** Folder with the Python side. */
  readonly sources: string;
  /** Number of the inherited socket the server speaks on. */
  readonly socketNumber: number;
  /** Whether the caller is root and can become other users. */
  readonly hasUsers: boolean;
  /** Bytes for all files of all sessions. */
  readonly scratchBytes: number;
  /** Bytes for the sessions' own files among them, where a server has a fixed number of sessions. */
  readonly diskBytes: number;
  /** Bytes of memory for all sessions of a server, where it has a machine for itself. */
  readonly memoryBytes: number;
  /** Where the server makes the control groups of its sessions. */
  readonly memoryGroups: MemoryGroups;
  readonly shareGroups: ShareGroups;
  readonly microVm?: MicroVmOptions;
}

/** The programs that run the virtual machines of the tier `micro-vm`. */
export interface MicroVmOptions {
  /** `auto`, the default, is Firecracker where it is found and KVM starts a guest, else QEMU. */
  readonly engine?: 'auto' | 'firecracker' | 'qemu';
  /** Firecracker's program. Default: `firecracker` on the PATH. */
  readonly firecracker?: string;
  /** Its jailer, used as root. Default: beside the program, under its name, or on the PATH. */
  readonly jailer?: string;
}

/** The engine that runs the virtual machine of a server. */
export interface MachineReport {
  readonly engine: 'firecracker' | 'qemu';
  /** Whether Firecracker's jailer confines it. */
  readonly isJailed: boolean;
  /** Why it is not Firecracker, or not jailed, though it could be. */
  readonly obstacle?: string;
  /** Why no control group of this machine limits its memory. */
  readonly memoryObstacle?: string;
}

/** The process that a launch started. */
export interface StartedProcess {
  /** Aborted when the process has ended. */
  readonly ended: AbortSignal;
  /** The end of what it wrote to its standard error. */
  said(): string;
  kill(): void;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folder for the sessions' directories, as the server sees it. */
  readonly scratch: string;
  /** Where sessions with mounts of their own put their files, as the server sees it. */
  readonly mountPoint?: string;
  /** The folder of control groups, as the server sees it, where that is another path. */
  readonly memoryFolder?: string;
  /** The same for the folders of shares, each under the name of its controller. */
  readonly shareFolder?: string;
  /** Folder to remove when the server has ended. */
  readonly temporary?: string;
  /** Control groups that the server has inside, where the machine's are out of its reach. */
  readonly memoryGroups?: MemoryGroups;
  /** The kernel that there is, where it is less than the isolation promises; and why. */
  readonly kernel?: Kernel;
  readonly kernelObstacle?: string;
  /** How long it may take to be ready, where that is more than a minute. */
  readonly startSeconds?: number;
  readonly machine?: MachineReport;
  /** A control group that the process is in, to remove when it has ended. */
  readonly processGroups?: MemoryGroups;
  /**
   * Opens the channel to the server where it is no inherited socket; called once the command runs. The
   * process needs no time to end: its server has nothing outside of it to clean up.
   *
   * @throws MachineError if there is no server to reach
   */
  connect?(process: StartedProcess): Promise<Socket>;
  /** Called once the command runs, for what is to be done before the server answers. */
  begin?(): Promise<void>;
  /**
   * Saves the server as it is: ready, and without sessions. Ends it.
   *
   * @throws SandboxError if what isolates it cannot save it
   */
  freeze?(): Promise<Snapshot>;
}

/** A server that was saved when it was ready; copies of it start without loading anything. */
export interface Snapshot {
  launch(): Promise<Launch>;
  /** Removes its files. Running copies continue. */
  remove(): Promise<void>;
}

/** The kind of kernel that runs the system calls of a session. */
export type Kernel = 'separate' | 'emulated' | 'shared';

export interface Isolation {
  readonly id: string;
  /** Names what a session can still do here although it should not; shown to the user. */
  readonly warning?: string;
  /** Has process numbers and users of its own, so that all processes of a user may be killed. */
  readonly ownsProcesses: boolean;
  /** The kernel that sessions talk to, if it is not the machine's. */
  readonly kernel?: Kernel;
  /** Sessions that a server has in its life, so that each has these walls for itself. */
  readonly sessionsPerServer?: number;
  /** Walls that the server is to put up around each session, where the kernel has them. */
  readonly layers: readonly ('namespaces' | 'landlock' | 'seccomp')[];
  /** @throws MissingError or UnsupportedError if the machine lacks what it needs */
  launch(plan: LaunchPlan): Promise<Launch>;
}

/** The whole environment of the server and its sessions: nothing of ours is passed on. */
export function sessionEnvironment(scratch: string): Record<string, string> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: scratch,
    TMPDIR: scratch,
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    PYTHONHASHSEED: '0',
    // Functions of libraries are found at the start instead of in every session at their first call.
    LD_BIND_NOW: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    // One thread each: hosts with many cores would run into the limits on threads and memory.
    OPENBLAS_NUM_THREADS: '1',
    OMP_NUM_THREADS: '1',
    MKL_NUM_THREADS: '1',
    OPENCV_FOR_THREADS_NUM: '1',
    MPLBACKEND: 'Agg',
    MPLCONFIGDIR: `${scratch}/matplotlib`,
    CUDA_VISIBLE_DEVICES: '',
  };
}

/** The first process in a kernel of its own: carries bytes between `channel` and the server. */
export function bridgeArguments(plan: LaunchPlan, channel: string): string[] {
  const { python } = plan.interpreter;
  const server = [python, ...serverArguments({ ...plan, socketNumber: 3 })];
  return [python, '-s', `${plan.sources}/bridge.py`, channel, ...server];
}

/** Arguments for the interpreter: no user site, our server. */
export function serverArguments(plan: LaunchPlan): string[] {
  return ['-s', `${plan.sources}/server.py`, String(plan.socketNumber)];
}
