/** Finds the kernel that runs an op, and the names under which it takes the op's operands. */
import type { Direction, Op } from '@saccade/ops';
import { type LaunchedOperand, launchedOperands, signatureOf } from '@saccade/ops/backend';
import { type WebGpuKernel, webGpuKernels } from '@saccade/webgpu-kernels';

export interface KernelBinding {
  readonly kernel: WebGpuKernel;
  readonly operands: Readonly<Record<Direction, readonly KernelOperand[]>>;
}

export interface KernelOperand extends LaunchedOperand {
  /** Its name in the kernel: `x`, `dX`. */
  readonly array: string;
}

export class KernelTable {
  readonly #bindings = new Map<Op, KernelBinding | string>();

  /** The binding of an op that can run in this direction, else one sentence why it cannot. */
  find(op: Op, direction: Direction): KernelBinding | string {
    let binding = this.#bindings.get(op);
    if (binding === undefined) {
      binding = bind(op);
      this.#bindings.set(op, binding);
    }
    if (typeof binding === 'string') return binding;
    if (binding.kernel[direction] === undefined) return `${op.id} has no backward.`;
    return binding;
  }
}

function bind(op: Op): KernelBinding | string {
  const kernel = webGpuKernels.find((candidate) => candidate.op === op.id);
  if (kernel === undefined) return `there is no WebGPU kernel ${op.id}.`;
  const declared = signatureOf(op);
  if (kernel.signature !== declared) {
    return (
      `the kernel ${op.id} is written for "${kernel.signature}", the op declares "${declared}"; ` +
      'the kernels are older or newer than the packages.'
    );
  }
  const operands = (direction: Direction): readonly KernelOperand[] =>
    launchedOperands(op, direction).map((operand) => ({ ...operand, array: arrayName(operand) }));
  return { kernel, operands: { forward: operands('forward'), backward: operands('backward') } };
}

function arrayName({ role, name }: LaunchedOperand): string {
  const isGradient = role === 'gradInput' || role === 'gradOutput';
  return isGradient ? `d${name.charAt(0).toUpperCase()}${name.slice(1)}` : name;
}
