import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCommand } from '../../python-interpreter.ts';
import { packArchive } from './cpio.ts';
import { findGuestKernel } from './guest-kernel.ts';
import { MachineControl } from './qmp.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'saccade-guest-parts-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the archive', () => {
  it('is what cpio unpacks to the same files', async (context) => {
    if (findCommand('cpio') === undefined) return context.skip('cpio is not installed');
    const content = Buffer.from('an odd number of bytes!');
    const archive = packArchive([
      { name: 'a', kind: 'folder', content: Buffer.alloc(0) },
      { name: 'a/file', kind: 'file', content, isExecutable: true },
      { name: 'link', kind: 'link', content: Buffer.from('a/file') },
    ]);
    execFileSync('cpio', ['-id', '--quiet'], { input: archive, cwd: folder });
    const said = execFileSync('sh', ['-c', 'cat link; stat -c %a a a/file'], { cwd: folder });
    expect(String(said)).toBe(`${content}755\n755\n`);
  });
});

describe('the kernel of guests', () => {
  async function makeKernel(release: string, listed: string, builtin = ''): Promise<void> {
    await mkdir(join(folder, 'boot'), { recursive: true });
    await mkdir(join(folder, 'modules', release), { recursive: true });
    await writeFile(join(folder, 'boot', `vmlinuz-${release}`), '');
    await writeFile(join(folder, 'modules', release, 'modules.dep'), listed);
    await writeFile(join(folder, 'modules', release, 'modules.builtin'), builtin);
  }
  const find = () => findGuestKernel(join(folder, 'boot'), join(folder, 'modules'));
  const bus = 'k/virtio_ring.ko:\nk/virtio.ko: k/virtio_ring.ko\n';
  const devices = ['virtio_mmio', 'virtio_blk', 'virtio_console', 'virtio-rng']
    .map((name) => `k/${name}.ko: k/virtio.ko k/virtio_ring.ko\n`)
    .join('');

  it('loads each module after those that it needs, and none that is built in', async () => {
    await makeKernel('6.1', bus + devices, 'kernel/fs/erofs/erofs.ko\n');
    const { image, modules } = await find();
    expect(image).toBe(join(folder, 'boot/vmlinuz-6.1'));
    expect(modules.map((path) => path.split('/').at(-1))).toEqual([
      ...['virtio_ring.ko', 'virtio.ko', 'virtio_mmio.ko', 'virtio_blk.ko'],
      ...['virtio_console.ko', 'virtio-rng.ko'],
    ]);
  });

  it('is the newest, and one for the cloud before others', async () => {
    const builtin = 'kernel/erofs.ko\n';
    for (const release of ['6.9', '6.10', '6.2-cloud']) {
      await makeKernel(release, bus + devices, builtin);
    }
    expect((await find()).image).toMatch(/6\.2-cloud$/);
    await rm(join(folder, 'boot/vmlinuz-6.2-cloud'));
    expect((await find()).image).toMatch(/6\.10$/);
  });

  it('is missing with a remedy, and so is a module; compressed modules are not supported', async () => {
    await expect(find()).rejects.toMatchObject({ code: 'missing', message: /apt-get install/ });
    await makeKernel('6.1', bus + devices);
    await expect(find()).rejects.toThrow('no module erofs');
    await makeKernel('6.1', bus + devices.replaceAll('.ko:', '.ko.xz:'), 'kernel/erofs.ko\n');
    await expect(find()).rejects.toThrow('is compressed');
  });
});

describe('the control socket', () => {
  it('passes events over, and gives what QEMU answers or why it refuses', async () => {
    const path = join(folder, 'control');
    const asked: unknown[] = [];
    const server = createServer((socket) => {
      const say = (value: unknown): void => void socket.write(`${JSON.stringify(value)}\n`);
      say({ QMP: {} });
      socket.on('error', () => {});
      socket.on('data', (data) => {
        const { execute, arguments: given } = JSON.parse(String(data));
        asked.push([execute, given]);
        if (execute === 'quit') return void socket.destroy();
        say({ event: 'STOP' });
        if (execute === 'migrate') say({ error: { desc: 'no such place' } });
        else say({ return: { status: 'completed' } });
      });
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const control = await MachineControl.open(path);
    expect(await control.run('query-migrate')).toEqual({ status: 'completed' });
    await expect(control.run('migrate', { uri: 'x' })).rejects.toThrow('no such place');
    await expect(control.run('quit')).rejects.toThrow('closed');
    control.close();
    server.close();
    expect(asked).toContainEqual(['migrate', { uri: 'x' }]);
  });
});
