/** Which kernel of the addon runs an op, and in what form it takes the op's dims and scalars. */
import type { Runtime } from '@saccade/native';
import { type Direction, formOf, type Op } from '@saccade/ops';
import { signatureOf } from './signature.ts';

export interface KernelBinding {
  /** Index of the kernel in the addon. */
  readonly kernel: number;
  readonly hasBackward: boolean;
  /** Axis letters and scalar names in the order the kernel takes their values. */
  readonly axes: readonly string[];
  readonly scalars: readonly string[];
  readonly operands: Readonly<Record<Direction, readonly StoredOperand[]>>;
}

/** An operand of a launch and the type the kernel reads it as. */
export interface StoredOperand {
  readonly name: string;
  readonly dtype: 'f32' | 'i32';
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
    return {
      kernel,
      hasBackward: info.hasBackward,
      axes: formOf(op).axes,
      scalars: Object.keys(op.scalars),
      operands: {
        forward: storedOperands(op, 'forward'),
        backward: storedOperands(op, 'backward'),
      },
    };
  }
}

function storedOperands(op: Op, direction: Direction): readonly StoredOperand[] {
  return formOf(op).order[direction].map(({ role, name }) => {
    const isInput = role === 'input' || role === 'gradInput';
    const operand = isInput ? op.inputs[name] : op.outputs[name];
    const isIndex = operand?.dtypes.every((dtype) => dtype === 'i32') === true;
    return { name, dtype: isIndex ? 'i32' : 'f32' };
  });
}
