/** Reverse-mode differentiation: remembers applied ops, then runs their backwards in reverse. */
import { formatShape, ShapeError, StateError, UnsupportedError } from '@saccade/core';
import { add, type DeviceArray, type Op, type Scalars } from '@saccade/ops';
import { adopt, Scope } from './scope.ts';
import type { Storage, Tensor } from './tensor.ts';

interface Node {
  readonly op: Op;
  readonly scalars: Scalars | undefined;
  readonly inputs: Readonly<Record<string, Tensor | undefined>>;
  readonly outputs: Readonly<Record<string, Tensor>>;
  /** Differentiable inputs that lead to a tracked tensor. */
  readonly wanted: readonly string[];
}

let current: Tape | undefined;

/** The tape that is recording now, if any. */
export function recordingTape(): Tape | undefined {
  return current;
}

/**
 * Records ops that depend on the tracked tensors and gives their gradients.
 *
 *   const tape = new Tape(parameters);
 *   const loss = tape.run(() => forward());
 *   const gradients = tape.backward([[loss, gradLoss]]);
 *   tape.dispose();
 *
 * Activations live until the backward pass is past them, or until `dispose()`.
 */
export class Tape {
  readonly #tracked: readonly Tensor[];
  readonly #reached = new Set<Storage>();
  readonly #nodes: Node[] = [];
  readonly #scope = new Scope();

  constructor(tracked: readonly Tensor[]) {
    this.#tracked = tracked;
    for (const tensor of tracked) this.#reached.add(tensor.storage);
  }

  /** Runs synchronous work under this tape; its tensors belong to the tape. */
  run<T>(work: () => T): T {
    const outer = current;
    current = this;
    try {
      return this.#scope.run(work);
    } finally {
      current = outer;
    }
  }

  /** Called by `apply` for every op that ran. */
  record(
    op: Op,
    inputs: Readonly<Record<string, Tensor | undefined>>,
    outputs: Readonly<Record<string, Tensor>>,
    scalars: Scalars | undefined,
  ): void {
    const wanted = Object.entries(op.inputs)
      .filter(([name, operand]) => {
        const input = inputs[name];
        return operand.grad === true && input !== undefined && this.#reached.has(input.storage);
      })
      .map(([name]) => name);
    if (wanted.length === 0) return;
    if (op.backward === undefined) {
      throw new UnsupportedError(
        `${op.id} has no gradient, but ${wanted.join(', ')} is tracked. Run it outside the tape.`,
      );
    }
    for (const name of wanted) {
      const input = inputs[name];
      if (input !== undefined && !input.isWhole) {
        throw new UnsupportedError(
          `${op.id}: ${name} is a slice of a tracked tensor, and slices carry no gradient. ` +
            'Use gatherRows.',
        );
      }
    }
    for (const output of Object.values(outputs)) this.#reached.add(output.storage);
    this.#nodes.push({ op, scalars, inputs, outputs, wanted });
  }

  /**
   * Gradients of Σ ⟨seed gradient, seed tensor⟩ by every tracked tensor, in the order tracked;
   * `undefined` where nothing depends on one. Contributions add up in reverse order of use.
   * May be called once.
   *
   * @throws ShapeError if a seed's gradient has another size than its tensor
   */
  backward(seeds: readonly (readonly [Tensor, Tensor])[]): (Tensor | undefined)[] {
    const gradients = new Map<Storage, DeviceArray>();
    const device = this.#tracked[0]?.device;
    if (device === undefined)
      throw new StateError('A tape without tracked tensors has no gradients.');
    const seedStorages = new Set<Storage>();
    const give = (target: Tensor, gradient: DeviceArray): void => {
      const before = gradients.get(target.storage);
      if (before === undefined) {
        gradients.set(target.storage, gradient);
        return;
      }
      const shape = [1, target.size];
      const { y } = device.forward(add, { a: { ...before, shape }, b: { ...gradient, shape } });
      if (y === undefined) throw new StateError('add gave no output.');
      this.#free(device, before, seedStorages);
      this.#free(device, gradient, seedStorages);
      gradients.set(target.storage, y);
    };
    for (const [target, gradient] of seeds) {
      if (target.size !== gradient.size) {
        throw new ShapeError(
          `The seed of a ${formatShape(target.shape)} tensor is ${formatShape(gradient.shape)}. ` +
            'Pass a gradient of the same size.',
        );
      }
      seedStorages.add(gradient.storage);
      give(target, gradient.array);
    }
    for (let node = this.#nodes.pop(); node !== undefined; node = this.#nodes.pop()) {
      const outputGradients: Record<string, DeviceArray | undefined> = {};
      let isReached = false;
      for (const [name, output] of Object.entries(node.outputs)) {
        const gradient = gradients.get(output.storage);
        if (gradient === undefined || node.op.outputs[name]?.grad !== true) continue;
        outputGradients[name] = { ...gradient, shape: output.shape };
        isReached = true;
      }
      if (isReached) {
        const inputGradients = device.backward(
          node.op,
          outputGradients,
          arraysOf(node.inputs),
          arraysOf(node.outputs),
          node.scalars,
          node.wanted,
        );
        for (const name of node.wanted) {
          const input = node.inputs[name];
          const gradient = inputGradients[name];
          if (input !== undefined && gradient !== undefined) give(input, gradient);
        }
      }
      for (const output of Object.values(node.outputs)) {
        const gradient = gradients.get(output.storage);
        if (gradient !== undefined) this.#free(device, gradient, seedStorages);
        gradients.delete(output.storage);
        this.#scope.release(output.storage);
      }
    }
    return this.#tracked.map((tracked) => {
      const gradient = gradients.get(tracked.storage);
      return gradient && adopt(device, { ...gradient, shape: tracked.shape });
    });
  }

  /** Frees what is left of the recorded activations. */
  dispose(): void {
    this.#nodes.length = 0;
    this.#scope.dispose();
  }

  /** Frees an intermediate gradient; seeds belong to the caller. */
  #free(device: Tensor['device'], gradient: DeviceArray, seeds: ReadonlySet<Storage>): void {
    for (const seed of seeds) if (seed.array.view.buffer === gradient.view.buffer) return;
    device.free(gradient);
  }
}

function arraysOf(
  tensors: Readonly<Record<string, Tensor | undefined>>,
): Record<string, DeviceArray | undefined> {
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, tensor?.array]));
}
