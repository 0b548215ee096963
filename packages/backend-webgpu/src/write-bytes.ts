/** Writes that begin or end inside a 4-byte word, which WebGPU's queue cannot do alone. */
import { type Pass, type Shader, shader } from '@saccade/webgpu-kernels';
import type { GpuMemory } from './gpu-memory.ts';
import { MemoryArray } from './memory-array.ts';

/** Replaces the masked bits of one word. */
const patchWord: Shader = shader({
  name: 'patch a word',
  arrays: { words: 'write u32' },
  numbers: { mask: 'u32', bits: 'u32' },
  threads: [1, 1, 1],
  body: `
fn main(at: Place) {
  put_words(0u, (get_words(0u) & ~p.mask) | p.bits);
}`,
});

/** Fills memory with the bits of NaN, which are −1 as integers. */
const poisonWords: Shader = shader({
  name: 'poison',
  arrays: { words: 'write u32' },
  numbers: { count: 'u32', stride: 'u32' },
  threads: [64, 1, 1],
  body: `
fn main(at: Place) {
  let i = at.global.y * p.stride + at.global.x;
  if (i < p.count) { put_words(i, 0xffffffffu); }
}`,
});

export interface ByteWrite {
  /** Whole words, which the queue writes. */
  readonly start: number;
  readonly body: Uint8Array;
  /** The words at the edges, which keep some of their bytes. */
  readonly patches: readonly Pass[];
}

/** Splits a write of bytes into whole words and patches. */
export function splitWrite(memory: GpuMemory, startBytes: number, data: Uint8Array): ByteWrite {
  const endBytes = startBytes + data.length;
  const start = Math.ceil(startBytes / 4) * 4;
  const end = Math.max(start, Math.floor(endBytes / 4) * 4);
  const patches: Pass[] = [];
  const patch = (wordStart: number): void => {
    let [mask, bits] = [0, 0];
    for (let i = 0; i < 4; i++) {
      const at = wordStart + i;
      if (at < startBytes || at >= endBytes) continue;
      mask += 0xff * 2 ** (8 * i);
      bits += (data[at - startBytes] ?? 0) * 2 ** (8 * i);
    }
    const words = new MemoryArray(memory, 'i32', wordStart / 4, 1);
    patches.push({
      shader: patchWord,
      arrays: { words },
      numbers: { mask, bits },
      workgroups: [1, 1, 1],
    });
  };
  if (startBytes < start) patch(start - 4);
  if (endBytes > end && end >= start && endBytes > start) patch(end);
  const body = data.subarray(start - startBytes, Math.max(start, end) - startBytes);
  return { start, body, patches };
}

/** Passes that fill all of some memory with NaN. */
export function poisonPasses(memory: GpuMemory, bindingBytes: number): readonly Pass[] {
  const passes: Pass[] = [];
  const most = Math.floor(bindingBytes / 4);
  const length = memory.sizeBytes / 4;
  for (let first = 0; first < length; first += most) {
    const count = Math.min(most, length - first);
    const groups = Math.ceil(count / 64);
    const x = Math.min(groups, 65535);
    passes.push({
      shader: poisonWords,
      arrays: { words: new MemoryArray(memory, 'i32', first, count) },
      numbers: { count, stride: x * 64 },
      workgroups: [x, Math.ceil(groups / x), 1],
    });
  }
  return passes;
}
