/**
 * Finds the kernel of a runtime that runs an op, and the order in which it takes dims and scalars.
 */
import type { KernelRuntime, Storage } from '@saccade/native';
import { type Direction, formOf, type Op } from '@saccade/ops';
import { type LaunchedOperand, launchedOperands, signatureOf } from '@saccade/ops/backend';

export interface KernelBinding {
  /** Index of the kernel in the runtime. */
  readonly kernel: number;
  /** Axis letters and scalar names in the order the kernel takes their values. */
  readonly axes: readonly string[];
  readonly scalars: readonly string[];
  readonly operands: Readonly<Record<Direction, readonly LaunchedOperand[]>>;
  /** The types its `stored` operands may have; empty if the kernel lacks the direction. */
  readonly storages: Readonly<Record<Direction, readonly Storage[]>>;
}

export class KernelTable {
  readonly #kernels: ReturnType<KernelRuntime['kernels']>;
  readonly #bindings = new Map<Op, KernelBinding | string>();

  constructor(runtime: KernelRuntime) {
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
    if (binding.storages[direction].length === 0) return `${op.id} has no backward.`;
    return binding;
  }

  #bind(op: Op): KernelBinding | string {
    const kernel = this.#kernels.findIndex(({ id }) => id === op.id);
    const info = this.#kernels[kernel];
    if (info === undefined) return `no kernel ${op.id} is built in.`;
    const declared = signatureOf(op);
    if (info.signature !== declared) {
      return (
        `the kernel ${op.id} is built for "${info.signature}", the op declares "${declared}"; ` +
        'the addon is older or newer than the packages.'
      );
    }
    return {
      kernel,
      axes: formOf(op).axes,
      scalars: Object.keys(op.scalars),
      operands: {
        forward: launchedOperands(op, 'forward'),
        backward: launchedOperands(op, 'backward'),
      },
      storages: info,
    };
  }
}
