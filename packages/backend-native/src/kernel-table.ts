/** Which kernel of the addon runs an op, and in what form it takes the op's dims and scalars. */
import type { Runtime } from '@saccade/native';
import { axisOrder, type Dims, type Direction, type Op, type Scalars } from '@saccade/ops';
import { signatureOf } from './signature.ts';

export interface KernelBinding {
  /** Index of the kernel in the addon. */
  readonly kernel: number;
  readonly hasBackward: boolean;
  dims(dims: Dims): Float64Array;
  scalars(scalars: Scalars): Float64Array;
}

export class KernelTable {
  readonly #kernels: ReturnType<Runtime['kernels']>;
  readonly #bindings = new Map<Op, KernelBinding | string>();

  constructor(runtime: Runtime) {
    this.#kernels = runtime.kernels();
  }

  /** The binding of an op that can run in this direction, else one sentence why it cannot. */
  find(op: Op, direction: Direction): KernelBinding | string {
    let binding = this.#bindings.get(op);
    if (binding === undefined) {
      binding = this.#bind(op);
      this.#bindings.set(op, binding);
    }
    if (typeof binding === 'string') return binding;
    if (direction === 'backward' && !binding.hasBackward) return `${op.id} has no backward.`;
    return binding;
  }

  #bind(op: Op): KernelBinding | string {
    const kernel = this.#kernels.findIndex(({ id }) => id === op.id);
    const info = this.#kernels[kernel];
    if (info === undefined) return `no kernel ${op.id} is built into the addon.`;
    const declared = signatureOf(op);
    if (info.signature !== declared) {
      return (
        `the kernel ${op.id} is built for "${info.signature}", the op declares "${declared}"; ` +
        'the addon is older or newer than the packages.'
      );
    }
    const axes = axisOrder(op);
    const names = Object.keys(op.scalars);
    return {
      kernel,
      hasBackward: info.hasBackward,
      dims: (dims) => Float64Array.from(axes, (axis) => dims[axis] ?? 0),
      scalars: (scalars) => Float64Array.from(names, (name) => scalars[name] ?? Number.NaN),
    };
  }
}
