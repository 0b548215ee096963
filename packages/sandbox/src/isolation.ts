/** An isolation puts the fork server into a place of its own; how strong the walls are, it says. */
import type { MemoryGroups, ShareGroups } from './control-groups.ts';
import type { PythonInterpreter } from './python-interpreter.ts';

/** What is to be started. */
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
  /** Where the server makes the control groups of its sessions. */
  readonly memoryGroups: MemoryGroups;
  readonly shareGroups: ShareGroups;
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
}

export interface Isolation {
  readonly id: string;
  /** What a session can still do here that it should not; shown to the user. */
  readonly warning?: string;
  /** Has process numbers and users of its own, so that all processes of a user may be killed. */
  readonly ownsProcesses: boolean;
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

/** Arguments for the interpreter: no user site, our server. */
export function serverArguments(plan: LaunchPlan): string[] {
  return ['-s', `${plan.sources}/server.py`, String(plan.socketNumber)];
}
