/** Device libraries without any op in mind: opening them, and memory and launches on a device. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Addon, type DeviceRuntime, libraryPath, loadAddon } from '../index.js';

function open(): Addon {
  const loaded = loadAddon();
  if (!loaded.ok) throw new Error(loaded.detail);
  return loaded.addon;
}

const path = libraryPath('cuda-emulated');

describe('probeDevices', () => {
  it('lists kernels and devices', () => {
    const { kernels, devices } = open().probeDevices(path);
    const add = kernels.find(({ id }) => id === 'add');
    expect(add).toMatchObject({ forward: ['f32', 'bf16', 'f16'], backward: add?.forward });
    expect(devices[0]).toMatchObject({ name: 'Emulated GPU', multiprocessors: 4 });
  });

  it('throws what the loader says of a file that is not there or no library', () => {
    const folder = mkdtempSync(join(tmpdir(), 'saccade-library-'));
    const text = join(folder, 'text.so');
    writeFileSync(text, 'no library\n'.repeat(99));
    const addon = open();
    expect(() => addon.probeDevices('/nowhere.so')).toThrow(/nowhere\.so/);
    expect(() => addon.probeDevices(text)).toThrow(/text\.so/);
    expect(() => new addon.DeviceRuntime(text, 0)).toThrow(/text\.so/);
    rmSync(folder, { recursive: true });
  });

  it('takes no library that is one of something else', () => {
    const loaded = loadAddon();
    expect(() => open().probeDevices(loaded.path)).toThrow(/is no library of kernels/);
  });
});

describe('DeviceRuntime', () => {
  let addon: Addon;
  let runtime: DeviceRuntime;
  beforeAll(() => {
    addon = open();
    runtime = new addon.DeviceRuntime(path, 0);
  });
  afterAll(() => runtime.close());

  const add = (): number => runtime.kernels().findIndex(({ id }) => id === 'add');
  const launch = (
    operands: readonly (readonly [id: number, offset: number, length: number])[],
    dims: readonly number[],
    storage: 0 | 1 | 2 = 0,
  ): void => {
    runtime.arguments().set([...operands.flat(), ...dims]);
    runtime.launch(add(), false, storage, operands.length, dims.length, 0);
  };

  it('refuses devices that are not there', () => {
    expect(() => new addon.DeviceRuntime(path, 99)).toThrow(/no CUDA device 99; there are 5/);
    expect(() => new addon.DeviceRuntime(path, 3)).toThrow(/cannot be used: .*kernels need 8.0/);
    expect(() => new addon.DeviceRuntime(path, -1)).toThrow(/the number of a device/);
    expect(() => new (addon.DeviceRuntime as new () => DeviceRuntime)()).toThrow(/takes a library/);
  });

  it('gives memory under an id, takes it back once, and copies inside it only', async () => {
    const id = runtime.allocate(8);
    runtime.write(id, 0, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    runtime.write(id, 4, Uint16Array.of(0x0a09));
    expect(new Uint8Array(await runtime.read(id, 2, 5))).toEqual(Uint8Array.of(3, 4, 9, 10, 7));
    const message = /id of memory not yet released, and bytes that lie inside it/;
    expect(() => runtime.write(id, 0, new Uint8Array(9))).toThrow(message);
    expect(() => runtime.read(id, 1, 8)).toThrow(message);
    expect(() => runtime.read(-1, 0, 1)).toThrow(message);
    expect(await runtime.read(id, 8, 0)).toEqual(new ArrayBuffer(0));
    runtime.release(id);
    expect(() => runtime.release(id)).toThrow(/not yet released/);
    expect(() => runtime.allocate(-1)).toThrow(/size in bytes/);
  });

  it('says in the driver’s words that memory is out, and goes on', () => {
    let error: unknown;
    try {
      runtime.allocate(2 ** 40);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ driver: 'cudaErrorMemoryAllocation', isLost: false });
    expect(`${error}`).toMatch(/no room for an array of 1099511627776 bytes.*out of memory/);
    runtime.release(runtime.allocate(16));
  });

  it('checks launches as on the processor, and counts 16-bit elements in two bytes', async () => {
    const [a, y] = [runtime.allocate(24), runtime.allocate(24)];
    const [fitA, fitY] = [[a, 0, 24] as const, [y, 0, 24] as const];
    runtime.write(a, 0, new Float32Array(6).fill(2));
    launch([fitA, fitA, fitY], [2, 3]);
    expect(new Float32Array(await runtime.read(y, 0, 24))).toEqual(new Float32Array(6).fill(4));
    expect(() => launch([fitA, fitA, fitY], [2, 4])).toThrow(/'a' needs 32 bytes.*got 24/);
    expect(() => launch([fitA, fitA, fitY], [2, 3], 2)).toThrow(/'a' needs 12 bytes.*got 24/);
    expect(() => launch([fitA, fitA, fitA], [2, 3])).toThrow(/'y' overlaps 'a'/);
    expect(() => launch([[1e9, 0, 24], fitA, fitY], [2, 3])).toThrow(/in no memory/);
    // 0x3c00 is 1 and 0x4000 is 2 as a half; 0x3f80 and 0x4000 as bf16.
    for (const [storage, one] of [
      [2, 0x3c00],
      [1, 0x3f80],
    ] as const) {
      runtime.write(a, 0, new Uint16Array(6).fill(one));
      launch(
        [
          [a, 0, 12],
          [a, 0, 12],
          [y, 2, 12],
        ],
        [2, 3],
        storage,
      );
      const sums = new Uint16Array(await runtime.read(y, 2, 12));
      expect(sums).toEqual(new Uint16Array(6).fill(0x4000));
    }
  });

  it('waits for nothing where nothing is under way', async () => {
    await runtime.synchronize();
    expect(runtime.synchronize()).toBeUndefined();
  });

  it('refuses work once it is closed', () => {
    const own = new addon.DeviceRuntime(path, 0);
    own.allocate(16);
    own.close();
    own.close();
    expect(() => own.kernels()).toThrow(/closed/);
    expect(() => own.allocate(1)).toThrow(/closed/);
  });
});
