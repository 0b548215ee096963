/**
 * A virtual machine by Firecracker, told over its interface what to be: one processor, memory, our kernel
 * and disk, a source of random numbers, and one way in (vsock).
 *
 * Written against the documents of Firecracker 1.16 (its OpenAPI file, vsock.md, snapshot-support.md,
 * jailer.md). Its own filter of system calls stays as it is.
 */
import { chmod, rename } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type {
  Launch,
  LaunchPlan,
  MachineReport,
  Snapshot,
  StartedProcess,
} from '../../isolation.ts';
import { makeTemporary, removeTree } from '../../temporary.ts';
import {
  asMachineError,
  FirecrackerApi,
  type FirecrackerTimes,
  firecrackerTimes,
} from './firecracker-api.ts';
import {
  type GuestImage,
  guestGroups,
  guestMountPoint,
  guestScratch,
  machineMebibytes,
} from './guest-image.ts';
import { apiSocket, type Cell, makeCell } from './jail.ts';
import { connectGuest } from './vsock.ts';

export interface FirecrackerMachine {
  readonly firecracker: string;
  /** Undefined where it runs without. */
  readonly jailer?: string;
  /** The kernel as a plain program (ELF). */
  readonly kernel: string;
  readonly image: Pick<GuestImage, 'disk' | 'archive' | 'init'>;
  readonly plan: Pick<LaunchPlan, 'memoryBytes' | 'scratchBytes'>;
  readonly times?: Partial<FirecrackerTimes>;
  /** Why it is not as confined as it could be. */
  readonly obstacle?: string;
}

/** Names in Firecracker's folder. Copies have the same ones, so that no path is in a snapshot. */
const names = {
  kernel: 'kernel',
  archive: 'initramfs',
  disk: 'disk',
  channel: 'vsock.sock',
  memory: 'memory',
  devices: 'devices',
} as const;
/** Where the server listens in the guest, and the guest's own number. */
const guestPort = 52;
const guestNumber = 3;

/**
 * A launch of a new machine.
 *
 * @throws MissingError if a tool that ends it with us is missing
 * @throws MachineError if its sockets would have no valid address
 */
export async function launchFirecracker(machine: FirecrackerMachine): Promise<Launch> {
  const { kernel, image } = machine;
  const files = {
    [names.kernel]: kernel,
    [names.archive]: image.archive,
    [names.disk]: image.disk,
  };
  return await launchIn(machine, files, boot);
}

type Start = (
  api: FirecrackerApi,
  machine: FirecrackerMachine,
  times: FirecrackerTimes,
) => Promise<void>;

async function launchIn(
  machine: FirecrackerMachine,
  files: Readonly<Record<string, string>>,
  start: Start,
): Promise<Launch> {
  const { firecracker, jailer } = machine;
  const memoryBytes = machineMebibytes(machine.plan) * 2 ** 20;
  const cell = await makeCell({
    ...{ firecracker, memoryBytes, files },
    ...(jailer === undefined ? {} : { jailer }),
  });
  const times = { ...firecrackerTimes, ...machine.times };
  const running: Running = { machine, cell, times, isSaving: false };
  return {
    command: cell.command,
    args: cell.args,
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    scratch: guestScratch,
    mountPoint: guestMountPoint,
    memoryGroups: { version: 2, folder: guestGroups },
    temporary: cell.folder,
    processGroups: cell.processGroups,
    machine: reportOf(machine, cell),
    // Its own limits come first, and say more.
    startSeconds: times.listenSeconds + times.savingSeconds + 2 * times.startSeconds,
    connect: (process) => open(running, process, start),
    ...(start === boot ? { freeze: () => freeze(running) } : {}),
  };
}

function reportOf(
  { jailer, obstacle }: FirecrackerMachine,
  { processGroups }: Cell,
): MachineReport {
  return {
    engine: 'firecracker',
    isJailed: jailer !== undefined,
    ...(obstacle === undefined ? {} : { obstacle }),
    ...('obstacle' in processGroups ? { memoryObstacle: processGroups.obstacle } : {}),
  };
}

interface Running {
  readonly machine: FirecrackerMachine;
  readonly cell: Cell;
  readonly times: FirecrackerTimes;
  api?: FirecrackerApi;
  process?: StartedProcess;
  /** While it is, its channel may end before it does. */
  isSaving: boolean;
}

async function open(running: Running, process: StartedProcess, start: Start): Promise<Socket> {
  const { machine, cell, times } = running;
  const api = await FirecrackerApi.open({ socket: join(cell.root, apiSocket), process, times });
  running.api = api;
  running.process = process;
  await start(api, machine, times);
  const seconds = start === boot ? times.startSeconds : times.copySeconds;
  const address = { socket: join(cell.root, names.channel), port: guestPort, seconds };
  try {
    const socket = await connectGuest({ ...address, ended: process.ended });
    // Without its channel the machine can neither be used nor be ended in another way.
    socket.on('close', () => running.isSaving || process.kill());
    return socket;
  } catch (error) {
    throw asMachineError(`CONNECT ${guestPort}`, error, process);
  }
}

async function boot(api: FirecrackerApi, { image, plan }: FirecrackerMachine): Promise<void> {
  const memory = machineMebibytes(plan);
  const words = [
    ...['console=ttyS0', 'quiet', 'panic=-1', 'reboot=k', 'random.trust_cpu=on'],
    // Its keyboard is there for the end of the machine only; the kernel would look for more.
    ...['i8042.noaux', 'i8042.nomux', 'i8042.dumbkbd', `rdinit=${image.init}`],
    ...['--', '-I', '-S', '/init.py', String(plan.scratchBytes), String(guestPort)],
  ];
  await api.put('/machine-config', { vcpu_count: 1, mem_size_mib: memory, smt: false });
  await api.put('/boot-source', {
    kernel_image_path: names.kernel,
    initrd_path: names.archive,
    boot_args: words.join(' '),
  });
  await api.put('/drives/disk', {
    ...{ drive_id: 'disk', path_on_host: names.disk },
    ...{ is_root_device: false, is_read_only: true },
  });
  await api.put('/entropy', {});
  await api.put('/vsock', { guest_cid: guestNumber, uds_path: names.channel });
  await api.put('/actions', { action_type: 'InstanceStart' });
}

async function load(
  api: FirecrackerApi,
  _machine: FirecrackerMachine,
  { savingSeconds }: FirecrackerTimes,
): Promise<void> {
  const body = {
    snapshot_path: names.devices,
    mem_backend: { backend_type: 'File', backend_path: names.memory },
    resume_vm: true,
  };
  await api.put('/snapshot/load', body, savingSeconds);
}

/** Its disk is read-only, and its connection is not part of it: memory and devices are all. */
async function freeze(running: Running): Promise<Snapshot> {
  const { machine, cell, times, api, process } = running;
  if (api === undefined || process === undefined) {
    throw new Error('A machine is saved after it was connected.');
  }
  running.isSaving = true;
  const saved = await makeTemporary('snapshot');
  try {
    await api.patch('/vm', { state: 'Paused' });
    const body = {
      ...{ snapshot_type: 'Full', snapshot_path: names.devices, mem_file_path: names.memory },
    };
    await api.put('/snapshot/create', body, times.savingSeconds);
    for (const name of [names.devices, names.memory]) {
      await rename(join(cell.root, name), join(saved, name));
      // Each copy is another user's, and must not change them.
      await chmod(join(saved, name), 0o444);
    }
  } catch (error) {
    await removeTree(saved);
    throw asMachineError('saving the machine', error, process);
  }
  const files = {
    [names.disk]: machine.image.disk,
    [names.devices]: join(saved, names.devices),
    [names.memory]: join(saved, names.memory),
  };
  return {
    launch: () => launchIn(machine, files, load),
    remove: () => removeTree(saved),
  };
}
