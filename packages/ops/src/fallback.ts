/** Runs one launch on another backend, by copying its operands there and its results back. */
import { bytesOf } from '@saccade/core';
import type { Backend, BufferView, Launch } from './backend.ts';
import { formOf } from './op-form.ts';

/**
 * Runs `launch`, whose operands live on `home`, on `fallback`.
 *
 * An in-place output has its input's view and so its copy; nothing else may overlap.
 */
export async function runElsewhere(
  home: Backend,
  fallback: Backend,
  launch: Launch,
): Promise<void> {
  const slots = formOf(launch.op).order[launch.direction];
  const copies = new Map<BufferView, BufferView>();
  const operands: (BufferView | undefined)[] = [];
  const results: BufferView[] = [];
  try {
    for (const [i, view] of launch.operands.entries()) {
      if (view === undefined) {
        operands.push(undefined);
        continue;
      }
      const role = slots[i]?.role;
      const isResult =
        role === 'gradInput' || (role === 'output' && launch.direction === 'forward');
      let copy = copies.get(view);
      if (copy === undefined) {
        const buffer = fallback.alloc(view.length * bytesOf(view.dtype));
        copy = { ...view, buffer, offsetBytes: 0 };
        copies.set(view, copy);
        if (!isResult) fallback.write(copy, await home.read(view));
      }
      operands.push(copy);
      if (isResult) results.push(view);
    }
    fallback.dispatch({ ...launch, operands });
    await fallback.synchronize();
    for (const view of results) {
      home.write(view, await fallback.read(copies.get(view) as BufferView));
    }
  } finally {
    for (const copy of copies.values()) fallback.free(copy.buffer);
  }
}
