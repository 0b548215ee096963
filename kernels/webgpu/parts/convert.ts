/** Float32 arrays rounded to the storage of a launch, and back. */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { shader } from '../shader.ts';
import { foldGroups } from './fold-groups.ts';
import { pieces } from './slices.ts';

const THREADS = 64;

const main = (to: string, from: string): string => `
fn main(at: Place) {
  let i = (at.group.x + at.group.y * p.across) * ${THREADS}u + at.index;
  if (i < p.count) { put_${to}(i, get_${from}(i)); }
}`;

const numbers = { count: 'u32', across: 'u32' } as const;

const narrowShader = shader({
  name: 'rounded to the storage',
  arrays: { wide: 'read f32', narrow: 'write stored' },
  numbers,
  threads: [THREADS, 1, 1],
  body: main('narrow', 'wide'),
});

const widenShader = shader({
  name: 'widened from the storage',
  arrays: { narrow: 'read stored', wide: 'write f32' },
  numbers,
  threads: [THREADS, 1, 1],
  body: main('wide', 'narrow'),
});

/** Copies between arrays of as many elements, of which `narrow` has the launch's storage. */
export function convertPasses(
  call: KernelCall,
  direction: 'narrow' | 'widen',
  { wide, narrow }: { readonly wide: GpuArray; readonly narrow: GpuArray },
): readonly Pass[] {
  return pieces(wide.length, Math.floor(call.limits.bindingBytes / 4)).map(({ start, end }) => {
    const { across, workgroups } = foldGroups(Math.ceil((end - start) / THREADS), call.limits);
    return {
      shader: direction === 'narrow' ? narrowShader : widenShader,
      arrays: { wide: wide.slice(start, end), narrow: narrow.slice(start, end) },
      numbers: { count: end - start, across },
      workgroups,
    };
  });
}
