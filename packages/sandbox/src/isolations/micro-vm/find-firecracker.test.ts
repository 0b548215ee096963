import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pythonSources } from '../../python-environment.ts';
import { findCommand } from '../../python-interpreter.ts';
import { plainKernel, unpackKernel } from './elf-kernel.ts';
import { findFirecracker, firecrackerObstacle } from './find-firecracker.ts';
import { findGuestKernel } from './guest-kernel.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'saccade-find-firecracker-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function program(name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

/** @param trial  what it does with a machine without a disk */
const firecracker = (version: string, trial: string): Promise<string> =>
  program(
    'firecracker',
    `if [ "$1" = --version ]; then echo "Firecracker v${version}"; exit; fi
[ "$1 $2" = "--no-api --config-file" ] && grep -q '"kernel_image_path":"/k/vmlinux"' "$3" || exit 9
${trial}`,
  );

describe('Firecracker', () => {
  it('is found by its path, and its jailer beside it', async () => {
    const path = await firecracker('1.16.1', 'exit 0');
    const isRoot = process.getuid?.() === 0;
    const alone = findFirecracker({ firecracker: path });
    if (findCommand('jailer') === undefined && isRoot) expect(alone?.obstacle).toMatch(/jailer/);
    const jailer = await program('jailer', '');
    const found = findFirecracker({ firecracker: path });
    expect(found).toEqual({ firecracker: path, ...(isRoot ? { jailer } : {}) });
    expect(() => findFirecracker({ firecracker: join(folder, 'no') })).toThrow(
      /microVm.firecracker: there is no program/,
    );
  });

  it('is used where it starts a kernel, and else it is told why not', async () => {
    const device = join(folder, 'kvm');
    const obstacleOf = async (version: string, trial: string): Promise<string | undefined> => {
      const path = await firecracker(version, trial);
      // Each is asked once; a path of its own makes another.
      const copy = join(folder, `firecracker-${Math.random()}`);
      await writeFile(copy, await readFile(path), { mode: 0o755 });
      return await firecrackerObstacle(copy, '/k/vmlinux', device);
    };
    expect(await obstacleOf('1.16.1', 'exit 0')).toMatch(/ENOENT.*kvm/);
    await writeFile(device, '');
    expect(await obstacleOf('1.16.1', 'exit 0')).toBeUndefined();
    expect(await obstacleOf('1.7.0', 'exit 0')).toMatch(/v1\.7\.0.*1\.8 or newer/);
    expect(await obstacleOf('2.0.0', 'echo "no KVM" >&2; exit 1')).toBe('no KVM');
    expect(await obstacleOf('1.16.1', 'exit 3')).toBe('it ended with status 3');
    expect(await obstacleOf('1.16.1', 'kill -TERM $$')).toBe('it ended with SIGTERM');
    expect(await obstacleOf('1.16.1', 'exec sleep 60')).toMatch(/did not start in 6 s/);
  }, 120_000);
});

describe('the kernel for Firecracker', () => {
  const elf = Buffer.from(`\x7fELF${'a kernel '.repeat(100)}`, 'latin1');

  /** As `boot.rst` describes it: a setup of so many sectors, then code, then the packed kernel. */
  function bootImage(packed: Uint8Array, sectors: number): Buffer {
    const start = ((sectors || 4) + 1) * 512;
    const image = Buffer.alloc(start + 64);
    image[0x1f1] = sectors;
    image.write('HdrS', 0x202);
    image.writeUInt32LE(64, 0x248);
    image.writeUInt32LE(packed.length, 0x24c);
    return Buffer.concat([image, packed, Buffer.from('what comes after')]);
  }

  it('is what is packed in a boot image, with its size behind it', async () => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(elf.length);
    for (const sectors of [0, 1, 29]) {
      const packed = Buffer.concat([gzipSync(elf), size]);
      expect(await plainKernel(bootImage(packed, sectors), 'it')).toEqual(elf);
    }
    expect(await plainKernel(bootImage(elf, 2), 'it')).toEqual(elf);
    expect(await plainKernel(elf, 'it')).toEqual(elf);
  });

  it('is refused with the reason where there is none', async () => {
    await expect(plainKernel(Buffer.from('no'), 'x')).rejects.toThrow(/x is no kernel/);
    await expect(plainKernel(bootImage(Buffer.from('what'), 2), 'x')).rejects.toThrow(/not known/);
    const other = bootImage(gzipSync('no kernel'), 2);
    await expect(plainKernel(other, 'x')).rejects.toThrow(/no kernel in it/);
  });

  it('is taken out of the one that is installed', async (context) => {
    const kernel = await findGuestKernel().catch(() => undefined);
    if (kernel === undefined) return context.skip('no kernel is installed for guests');
    const file = await unpackKernel(kernel.image, join(folder, 'vmlinux'));
    const plain = await readFile(file);
    // ELF, 64 bits, for x64, as Firecracker's loader demands.
    expect(plain.subarray(0, 6).toString('latin1')).toBe('\x7fELF\x02\x01');
    expect(plain.readUInt16LE(18)).toBe(62);
    expect(kernel.vsockModules?.some((path) => path.includes('virtio_transport.ko'))).toBe(true);
  });
});

describe('a copy', () => {
  const python = findCommand('python3');
  const run = (script: string): string => {
    const code = `import sys\nsys.path.insert(0, ${JSON.stringify(pythonSources)})\n${script}`;
    const { stdout, stderr } = spawnSync(python ?? '', ['-I', '-c', code], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.trim();
  };

  it('takes no random bytes that the kernel fetched before it was saved', async (context) => {
    if (python === undefined) return context.skip('python3 is not installed');
    const device = join(folder, 'hwrng');
    // Bytes that may lie in the driver and above it, and then those that the device gives anew.
    await writeFile(device, Buffer.concat([Buffer.alloc(256, 1), Buffer.alloc(64, 2)]));
    const got = run(`
import renewal
renewal.HARDWARE_RANDOM, renewal.HARDWARE_CLOCK = ${JSON.stringify(device)}, "/nonexistent"
renewal.add_entropy = lambda entropy: print(entropy.hex())
renewal.set_clock = lambda seconds: print(seconds)
renewal.renew(12.5, b"host")`);
    expect(got.split('\n')).toEqual([
      `${Buffer.from('host').toString('hex')}${'02'.repeat(64)}`,
      '12.5',
    ]);
  });

  it('is greeted in a line of limited length, in time', async (context) => {
    if (python === undefined) return context.skip('python3 is not installed');
    const got = run(`
import socket, threading, connections
connections.GREETING_SECONDS = 0.3
listener = socket.socket(socket.AF_UNIX)
listener.bind(${JSON.stringify(join(folder, 'agent'))})
listener.listen()
channel = connections.Connections(listener)
threading.Thread(target=lambda: print("took", channel.take(9)), daemon=True).start()
good = b'{"seconds": 1, "entropy": "00"}\\n'
for line in (b"x" * 5000, b"\\n", b'{"seconds": 1}\\n', b'[]\\n', b"late", good + b"hello"):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(${JSON.stringify(join(folder, 'agent'))})
    peer.sendall(line)
    print(list(__import__("json").loads(peer.makefile().readline())))
    peer.close() if line[:1] != b"{" or line[-1:] == b"\\n" else None
import time
time.sleep(0.3)`);
    // The answer and what was taken after it come from two threads.
    expect(got.split('\n').sort()).toEqual([
      ...Array<string>(5).fill("['error']"),
      "['ready']",
      "took b'hello'",
    ]);
  });
});
