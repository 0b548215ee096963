/** The kernel that guests run: a distribution's, with the modules that a machine of ours needs. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MissingError, UnsupportedError } from '@saccade/core';

export interface GuestKernel {
  /** The compressed image, as boot loaders take it. */
  readonly image: string;
  /** Files of modules, in the order in which they are to be loaded. */
  readonly modules: readonly string[];
  /** More of them, for a channel of sockets (virtio-vsock); undefined where the kernel has none. */
  readonly vsockModules?: readonly string[];
}

/** Buses, disks, channel and randomness of the machine; the format of its disk. */
const needed = ['virtio_mmio', 'virtio_blk', 'virtio_console', 'virtio_rng', 'erofs'];
/** Looked for by name only at run time, so that no list of dependencies has it. */
const helpers = ['crc32c_generic'];
/** Firecracker has no serial ports for channels, but sockets. */
const vsock = 'vmw_vsock_virtio_transport';

/**
 * @param boot  where kernels are, as `vmlinuz-RELEASE`
 * @param library  where their modules are, in folders named by the release
 * @throws MissingError if there is no kernel with its modules
 * @throws UnsupportedError if its modules are compressed
 */
export async function findGuestKernel(
  boot = '/boot',
  library = '/lib/modules',
): Promise<GuestKernel> {
  const names = await readdir(boot).catch(() => []);
  const releases = names
    .filter((name) => name.startsWith('vmlinuz-'))
    .map((name) => name.slice('vmlinuz-'.length))
    .filter((release) => existsSync(join(library, release, 'modules.dep')))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  // Kernels made for machines like ours start sooner.
  const release = releases.find((name) => name.includes('cloud')) ?? releases[0];
  if (release === undefined) {
    throw new MissingError(
      `There is no kernel for guests: ${boot} has no vmlinuz with modules in ${library}. Install ` +
        'one, e.g. `apt-get install linux-image-cloud-amd64`; it need not be the one that runs.',
    );
  }
  const folder = join(library, release);
  const lists = await Promise.all(
    ['modules.dep', 'modules.builtin'].map((name) =>
      readFile(join(folder, name), 'utf8').catch(() => ''),
    ),
  );
  const modules = loadOrder(folder, lists, [...helpers, ...needed]);
  const hasVsock = lists.some((list) => list.split(/[:\n]/).map(moduleName).includes(vsock));
  const loaded = new Set(modules);
  const extra = hasVsock ? loadOrder(folder, lists, [vsock]).filter((one) => !loaded.has(one)) : [];
  return {
    image: join(boot, `vmlinuz-${release}`),
    modules,
    ...(hasVsock ? { vsockModules: extra } : {}),
  };
}

function loadOrder(
  folder: string,
  [listed = '', builtin = '']: readonly string[],
  names: readonly string[],
): string[] {
  const dependencies = new Map<string, readonly string[]>();
  const paths = new Map<string, string>();
  for (const line of listed.split('\n')) {
    const [path = '', rest = ''] = line.split(':');
    paths.set(moduleName(path), path);
    dependencies.set(
      path,
      rest.split(' ').filter((one) => one !== ''),
    );
  }
  const isBuiltin = new Set(builtin.split('\n').map(moduleName));
  const order = new Set<string>();
  for (const name of names) {
    const path = paths.get(name);
    if (path === undefined) {
      if (isBuiltin.has(name) || helpers.includes(name)) continue;
      throw new MissingError(`The kernel of ${folder} has no module ${name}. Install another one.`);
    }
    // Each is listed after what needs it.
    for (const one of [...(dependencies.get(path) ?? [])].reverse()) order.add(one);
    order.add(path);
  }
  const files = [...order].map((path) => join(folder, path));
  const compressed = files.find((file) => !file.endsWith('.ko'));
  if (compressed !== undefined) {
    throw new UnsupportedError(
      `The module ${compressed} is compressed. Use a kernel with plain modules, or unpack them.`,
    );
  }
  return files;
}

/** As the kernel spells it. */
function moduleName(path: string): string {
  return basename(path)
    .replace(/\.ko.*$/, '')
    .replaceAll('-', '_');
}
