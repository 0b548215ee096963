/** The disk and the first files of a guest, made once for an interpreter and kept. */
import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { MissingError, messageOf } from '@saccade/core';
import { SandboxError } from '../../errors.ts';
import { bridgeArguments, type LaunchPlan, sessionEnvironment } from '../../isolation.ts';
import { findCommand, runForText } from '../../python-interpreter.ts';
import { makeTemporary, removeTree } from '../../temporary.ts';
import { systemFolders } from '../libraries.ts';
import { type ArchiveEntry, packArchive } from './cpio.ts';
import { guestFiles, librariesOf, resolveSystem } from './guest-files.ts';
import type { GuestKernel } from './guest-kernel.ts';

export interface GuestImage {
  /** Read-only file system (EROFS) with all that a guest sees. */
  readonly disk: string;
  /**
   * Archive that the kernel unpacks at its start: a small Python mounts the disk and goes on there.
   */
  readonly archive: string;
  /** The interpreter in the archive. */
  readonly init: string;
}

/** Where the server's files are in a guest. */
export const guestScratch = '/tmp/saccade';
export const guestMountPoint = '/tmp/sandbox/session';
export const guestGroups = '/groups/sessions';
/** Bytes that the guest's kernel, the server and its libraries need besides the sessions. */
const guestBytes = 384 * 2 ** 20;
/** The channel's device there. */
const channel = '/dev/channel';

/** Changes whenever what this file makes does. */
const layout = 3;

/** The memory of a machine. */
export function machineMebibytes(plan: Pick<LaunchPlan, 'memoryBytes' | 'scratchBytes'>): number {
  return Math.ceil((plan.memoryBytes + plan.scratchBytes + guestBytes) / 2 ** 20);
}

/** @throws MissingError if nothing here makes such file systems */
export async function guestImage(plan: LaunchPlan, kernel: GuestKernel): Promise<GuestImage> {
  const boot = await bootFiles(plan);
  const folder = join(homedir(), '.cache/saccade/micro-vm', await fingerprint(plan, kernel));
  const image = {
    disk: join(folder, 'root.erofs'),
    archive: join(folder, 'initramfs.cpio'),
    init: boot.python,
  };
  if (existsSync(folder)) return image;
  const made = await makeTemporary('guest');
  try {
    await makeDisk(plan, join(made, 'root.erofs'));
    const archive = packArchive(await bootEntries(plan, kernel, boot));
    await writeFile(join(made, 'initramfs.cpio'), archive);
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    // Concurrent builds give the same file.
    await runForText('mv', ['-nT', made, folder]);
  } finally {
    await removeTree(made);
  }
  return image;
}

/** Changes with everything that goes into the image; of the libraries, with their folders' times. */
async function fingerprint(plan: LaunchPlan, kernel: GuestKernel): Promise<string> {
  const { interpreter, sources } = plan;
  const hash = createHash('sha256').update(JSON.stringify([layout, interpreter, kernel]));
  const [major, minor] = interpreter.version.split('.');
  const libraries = interpreter.directories.flatMap((path) =>
    [path, join(path, `lib/python${major}.${minor}/site-packages`)].filter((p) => existsSync(p)),
  );
  for (const path of [kernel.image, ...libraries]) hash.update(String(statSync(path).mtimeMs));
  const text = await runForText('/bin/sh', ['-c', 'cat "$0"/*.py', sources]);
  return hash.update(text).digest('hex').slice(0, 32);
}

async function makeDisk(plan: LaunchPlan, disk: string): Promise<void> {
  const command = findCommand('mkfs.erofs');
  if (command === undefined) {
    throw new MissingError(
      '`mkfs.erofs` is not on the PATH; it makes the disk of micro-VMs. Install it, e.g. ' +
        '`apt-get install erofs-utils`.',
    );
  }
  const root = await makeTemporary('root');
  try {
    await chmod(root, 0o755); // the guest's `/`, for all its users
    const { trees, files } = await guestFiles(plan);
    for (const { path, link } of systemFolders()) {
      if (link === undefined) await mkdir(join(root, path), { recursive: true });
      else await mkdir(join(root, link), { recursive: true });
      if (link !== undefined) await symlink(link, join(root, path));
    }
    for (const name of ['proc', 'dev', 'tmp', 'groups', 'etc']) {
      await mkdir(join(root, name), { recursive: true });
    }
    for (const path of trees) await copyTree(path, join(root, path));
    for (const path of files) {
      await mkdir(join(root, dirname(path)), { recursive: true });
      await cp(path, join(root, path), { dereference: true, force: true });
    }
    await runForText(command, ['--all-root', '-T0', disk, root]);
  } catch (error) {
    throw new SandboxError(`The disk of micro-VMs could not be made: ${messageOf(error)}`);
  } finally {
    await removeTree(root);
  }
}

/** By names for the same files where the system allows it: nothing is copied twice. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await runForText('cp', ['-alT', from, to]).catch(() => runForText('cp', ['-aT', from, to]));
}

interface BootFiles {
  readonly python: string;
  readonly files: readonly string[];
}

const bootModules = `
import sys
python = sys._base_executable
sys.path = [path for path in sys.path if path]
import ctypes, json, os, socket, time
import encodings.ascii, encodings.utf_8
names = [getattr(m, n, None) for m in list(sys.modules.values()) for n in ("__file__", "__cached__")]
names.append(os.path.join(os.path.dirname(os.__file__), "lib-dynload"))
print(json.dumps([os.path.realpath(python), sorted({n for n in names if n and os.path.exists(n)})]))
`;

/** The files that the interpreter reads to run the first program. */
async function bootFiles({ interpreter }: LaunchPlan): Promise<BootFiles> {
  const answer = await runForText(interpreter.python, ['-I', '-S', '-c', bootModules]);
  const [python, files] = JSON.parse(answer) as [string, string[]];
  return { python, files };
}

async function bootEntries(
  plan: LaunchPlan,
  kernel: GuestKernel,
  { python, files }: BootFiles,
): Promise<readonly ArchiveEntry[]> {
  const entries = new Map<string, ArchiveEntry>();
  const nothing = new Uint8Array();
  const addFolder = (path: string): void => {
    if (path === '/' || entries.has(path)) return;
    addFolder(dirname(path));
    entries.set(path, { name: path.slice(1), kind: 'folder', content: nothing });
  };
  const add = (path: string, content: Uint8Array, isExecutable = false): void => {
    addFolder(dirname(path));
    entries.set(path, { name: path.slice(1), kind: 'file', content, isExecutable });
  };
  for (const name of ['/proc', '/dev', '/disk']) addFolder(name);
  for (const { path, link } of systemFolders()) {
    if (link === undefined) continue;
    addFolder(join('/', link));
    entries.set(path, { name: path.slice(1), kind: 'link', content: Buffer.from(link) });
  }
  const libraries = await librariesOf([python, ...files.filter((name) => name.endsWith('.so'))]);
  for (const path of [...files, ...libraries]) {
    if (statSync(path).isDirectory()) addFolder(path);
    else add(resolveSystem(path), await readFile(await realpath(path)), true);
  }
  add(python, await readFile(python), true);
  const addModules = async (kind: string, paths: readonly string[]): Promise<string[]> => {
    const names: string[] = [];
    for (const [index, path] of paths.entries()) {
      const name = `/modules/${kind}-${index}.ko`;
      add(name, await readFile(path));
      names.push(name);
    }
    return names;
  };
  const boot = {
    modules: await addModules('machine', kernel.modules),
    vsockModules: await addModules('vsock', kernel.vsockModules ?? []),
    channel,
    command: bridgeArguments(plan, channel),
    environment: sessionEnvironment(guestScratch),
    scratch: guestScratch,
    mountPoint: guestMountPoint,
    groups: guestGroups,
  };
  add('/boot.json', Buffer.from(JSON.stringify(boot)));
  add('/init.py', await readFile(join(plan.sources, 'vm_init.py')));
  return [...entries.values()];
}
