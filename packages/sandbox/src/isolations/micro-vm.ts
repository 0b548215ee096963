/**
 * A virtual machine by Firecracker or QEMU (`microvm`): sessions have a kernel, memory and processors
 * of their own, and reach of this machine only what the engine gives the guest: a read-only disk with the interpreter, one
 * channel, and random numbers.
 *
 * The machine is started once and saved when its server is ready. Its memory is a file then, which each
 * copy maps for itself, so a copy reads only what it uses. In the guest each session has the same
 * walls as in the tier `bubblewrap`, and by default the guest for itself.
 */
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { MissingError, messageOf, UnsupportedError } from '@saccade/core';
import { SandboxError } from '../errors.ts';
import type { Isolation, Launch, LaunchPlan, Snapshot } from '../isolation.ts';
import { findCommand } from '../python-interpreter.ts';
import { makeTemporary, removeTree } from '../temporary.ts';
import { endsWithParent } from './launcher.ts';
import { type Accelerator, findAccelerator } from './micro-vm/accelerator.ts';
import { unpackKernel } from './micro-vm/elf-kernel.ts';
import {
  type FirecrackerProgram,
  findFirecracker,
  firecrackerObstacle,
} from './micro-vm/find-firecracker.ts';
import { type FirecrackerMachine, launchFirecracker } from './micro-vm/firecracker.ts';
import {
  type GuestImage,
  guestGroups,
  guestImage,
  guestMountPoint,
  guestScratch,
  machineMebibytes,
} from './micro-vm/guest-image.ts';
import { findGuestKernel, type GuestKernel } from './micro-vm/guest-kernel.ts';
import { MachineControl } from './micro-vm/qmp.ts';

/** An emulated processor takes half a minute of a whole one to load the libraries. */
const emulatedStartSeconds = 300;
const savingSeconds = 60;

export const microVmIsolation: Isolation = {
  id: 'micro-vm',
  kernel: 'separate',
  ownsProcesses: true,
  sessionsPerServer: 1,
  layers: ['namespaces', 'landlock', 'seccomp'],

  async launch(plan) {
    if (process.platform !== 'linux' || process.arch !== 'x64') {
      throw new UnsupportedError(
        `Micro-VMs are made for Linux on x64, this is ${process.platform} on ${process.arch}. ` +
          'Use another tier or a remote sandbox.',
      );
    }
    const { engine = 'auto' } = plan.microVm ?? {};
    const program = engine === 'qemu' ? undefined : findFirecracker(plan.microVm ?? {});
    const qemu = engine === 'firecracker' ? undefined : findCommand('qemu-system-x86_64');
    if (program === undefined && qemu === undefined) throw nothingRuns(engine);
    const kernel = await findGuestKernel();
    const image = await guestImage(plan, kernel);
    let obstacle: string | undefined;
    if (program !== undefined) {
      const found = await prepareFirecracker(program, kernel, image);
      if (!('obstacle' in found)) return await launchFirecracker({ ...found.machine, plan });
      obstacle = `Firecracker runs no guests here (${found.obstacle}).`;
      if (qemu === undefined) throw new UnsupportedError(`${obstacle} ${remedies}`);
    }
    return await launchQemu(qemu ?? '', kernel, image, plan, obstacle);
  },
};

const remedies =
  'Check that this user may use /dev/kvm, install QEMU, e.g. `apt-get install qemu-system-x86`, or use ' +
  'another tier.';

function nothingRuns(engine: string): MissingError {
  const programs = {
    qemu: 'QEMU (`qemu-system-x86_64`) is',
    firecracker: 'Firecracker (`firecracker`) is',
  };
  const fact =
    engine === 'qemu' || engine === 'firecracker'
      ? programs[engine]
      : 'Neither Firecracker (`firecracker`) nor QEMU (`qemu-system-x86_64`) is';
  const remedy =
    engine === 'firecracker'
      ? 'Install a release of it, or name its program in `microVm.firecracker`.'
      : 'Install QEMU, e.g. `apt-get install qemu-system-x86`.';
  return new MissingError(`${fact} not on the PATH. ${remedy}`);
}

type Prepared =
  | { readonly obstacle: string }
  | { readonly machine: Omit<FirecrackerMachine, 'plan'> };

async function prepareFirecracker(
  program: FirecrackerProgram,
  kernel: GuestKernel,
  image: GuestImage,
): Promise<Prepared> {
  if (kernel.vsockModules === undefined) {
    return { obstacle: `the kernel ${kernel.image} has no virtio-vsock, its only channel` };
  }
  const plain = await unpackKernel(kernel.image, join(dirname(image.disk), 'vmlinux'));
  const obstacle = await firecrackerObstacle(program.firecracker, plain);
  return obstacle === undefined ? { machine: { ...program, kernel: plain, image } } : { obstacle };
}

async function launchQemu(
  qemu: string,
  kernel: GuestKernel,
  image: GuestImage,
  plan: LaunchPlan,
  obstacle: string | undefined,
): Promise<Launch> {
  const accelerator = await findAccelerator(qemu, kernel.image);
  const own = await makeTemporary('machine');
  const machine: Machine = { qemu, kernel, accelerator, image, plan };
  return {
    ...launchOf(machine, { own, saved: own, isShared: true }),
    machine: {
      ...{ engine: 'qemu', isJailed: false },
      ...(obstacle === undefined ? {} : { obstacle: `${obstacle} QEMU runs them.` }),
    },
    freeze: () => freeze(machine, own),
  };
}

/** Why machines are emulated here; undefined if they are not, or if there are none at all. */
export async function emulationReason(): Promise<string | undefined> {
  const qemu = findCommand('qemu-system-x86_64');
  if (qemu === undefined) return undefined;
  const kernel = await findGuestKernel().catch(() => undefined);
  if (kernel === undefined) return undefined;
  return (await findAccelerator(qemu, kernel.image)).obstacle;
}

interface Machine {
  readonly qemu: string;
  readonly kernel: GuestKernel;
  readonly accelerator: Accelerator;
  readonly image: GuestImage;
  readonly plan: LaunchPlan;
}

interface Folders {
  /** For this machine alone; goes when it ends. */
  readonly own: string;
  /** Has the memory and, once they are saved, the devices. */
  readonly saved: string;
  /** Whether the machine writes to the file of its memory; copies keep what they write. */
  readonly isShared: boolean;
}

function launchOf(machine: Machine, folders: Folders): Launch {
  const { accelerator } = machine;
  const { own, saved, isShared } = folders;
  const command = [machine.qemu, ...machineArguments(machine, folders)];
  const redirections = isShared ? '>&2' : '>&2 4<"$0"';
  return {
    ...endsWithParent(command, redirections, join(saved, 'devices')),
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    scratch: guestScratch,
    mountPoint: guestMountPoint,
    memoryGroups: { version: 2, folder: guestGroups },
    temporary: own,
    ...(accelerator.obstacle === undefined
      ? {}
      : {
          kernel: 'emulated' as const,
          kernelObstacle: accelerator.obstacle,
          startSeconds: emulatedStartSeconds,
        }),
    ...(isShared ? {} : { begin: () => loadDevices(own) }),
  };
}

function machineArguments(machine: Machine, { own, saved, isShared }: Folders): string[] {
  const { accelerator, image, kernel, plan } = machine;
  const size = machineMebibytes(plan);
  const memory = `memory-backend-file,id=memory,size=${size}M,mem-path=${join(saved, 'memory')}`;
  const isEmulated = accelerator.name === 'tcg';
  const boot = [
    ...['console=ttyS0', 'quiet', 'panic=-1', 'random.trust_cpu=on'],
    // An emulated clock is too uneven to be measured, which the kernel would try without end.
    ...(isEmulated ? ['no_timer_check', 'tsc_early_khz=2000000', 'lpj=4000000'] : []),
    ...[`rdinit=${image.init}`, '--', '-I', '-S', '/init.py', String(plan.scratchBytes)],
  ];
  return [
    ...['-M', 'microvm,memory-backend=memory', '-accel', accelerator.name],
    ...['-cpu', isEmulated ? 'max' : 'host', '-smp', '1', '-m', `${size}M`],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-object', `${memory},share=${isShared ? 'on' : 'off'}`],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    ...['-kernel', kernel.image, '-initrd', image.archive, '-append', boot.join(' ')],
    ...['-blockdev', `driver=file,node-name=disk,filename=${image.disk},read-only=on`],
    ...['-device', 'virtio-blk-device,drive=disk'],
    ...['-object', 'rng-random,id=random,filename=/dev/urandom'],
    ...['-device', 'virtio-rng-device,rng=random'],
    ...['-chardev', `socket,id=channel,fd=${plan.socketNumber}`],
    ...['-device', 'virtio-serial-device', '-device', 'virtserialport,chardev=channel'],
    // Messages of the kernel and the server when they fail.
    ...['-chardev', 'stdio,id=console,signal=off', '-serial', 'chardev:console'],
    ...['-qmp', `unix:${join(own, 'control')},server=on,wait=off`],
    ...(isShared ? [] : ['-incoming', 'defer']),
  ];
}

/** The contents of memory stay where they are; only the state of the devices is sent. */
const memoryStays = { capabilities: [{ capability: 'x-ignore-shared', state: true }] };

async function freeze(machine: Machine, own: string): Promise<Snapshot> {
  const saved = await makeTemporary('snapshot');
  try {
    await saveDevices(own, join(saved, 'devices'));
    await rename(join(own, 'memory'), join(saved, 'memory'));
  } catch (error) {
    await removeTree(saved);
    throw new SandboxError(`The micro-VM could not be saved: ${messageOf(error)}`);
  }
  return {
    launch: async () =>
      launchOf(machine, { own: await makeTemporary('machine'), saved, isShared: false }),
    remove: () => removeTree(saved),
  };
}

/** The capability must be set before the state comes, and no argument of QEMU's sets it. */
async function loadDevices(own: string): Promise<void> {
  const control = await MachineControl.open(join(own, 'control'));
  try {
    await control.run('migrate-set-capabilities', memoryStays);
    // The descriptor that the shell opened.
    await control.run('migrate-incoming', { uri: 'fd:4' });
  } finally {
    control.close();
  }
}

/** QEMU may start no program and open no file of ours: it sends its state to a socket. */
async function saveDevices(own: string, file: string): Promise<void> {
  const receiver = createServer();
  const path = join(own, 'state');
  await new Promise<void>((resolve) => receiver.listen(path, resolve));
  const received = new Promise<void>((resolve, reject) => {
    receiver.once('connection', (socket) => {
      pipeline(socket, createWriteStream(file)).then(resolve, reject);
    });
  });
  received.catch(() => {}); // reported where it is awaited
  const control = await MachineControl.open(join(own, 'control'));
  try {
    await control.run('migrate-set-capabilities', memoryStays);
    await control.run('migrate', { uri: `unix:${path}` });
    const end = performance.now() + savingSeconds * 1000;
    for (;;) {
      const { status } = (await control.run('query-migrate')) as { readonly status?: string };
      if (status === 'completed') break;
      if (status === 'failed' || performance.now() > end) {
        throw new SandboxError(`QEMU says "${status}" of saving its state.`);
      }
      await pause(10);
    }
    await received;
  } finally {
    control.close();
    receiver.close();
  }
}
