/**
 * Reverse-mode differentiation: records applied ops, then runs their backwards in reverse order.
 */
import { formatShape, ShapeError, StateError, UnsupportedError } from '@saccade/core';
import type { DeviceArray, Op, Scalars } from '@saccade/ops';
import { GradientSum } from './gradient-sum.ts';
import { Scope, scope, tensorsIn } from './scope.ts';
import type { Storage, Tensor } from './tensor.ts';

type Tensors = Readonly<Record<string, Tensor | undefined>>;

/** An op that ran. */
interface OpNode {
  readonly kind: 'op';
  readonly op: Op;
  readonly scalars: Scalars | undefined;
  readonly inputs: Tensors;
  readonly outputs: Readonly<Record<string, Tensor>>;
  /** Differentiable inputs that lead to a tracked tensor. */
  readonly wanted: readonly string[];
}

/** A part of the forward that runs again in the backward. */
interface BlockNode {
  readonly kind: 'block';
  readonly work: () => unknown;
  readonly outputs: readonly Tensor[];
}

/** Below the nodes of a block that ran again: where its activations are no longer needed. */
interface BlockStart {
  readonly kind: 'blockStart';
}

type Node = OpNode | BlockNode | BlockStart;

/** How a tape keeps what its backward needs. */
export interface TapeOptions {
  /**
   * Keeps only inputs and outputs of the parts that `recomputable` marks, and runs them again in
   * the backward. Gradients have the same bits. Default false.
   */
  readonly recompute?: boolean;
}

let current: Tape | undefined;

/** The tape that is recording now, if any. */
export function recordingTape(): Tape | undefined {
  return current;
}

/** Runs synchronous work that no tape sees: its results are constants to the gradient. */
export function constant<T>(work: () => T): T {
  const outer = current;
  current = undefined;
  try {
    return work();
  } finally {
    current = outer;
  }
}

/**
 * Marks a part of a forward, such as a transformer block, that a tape may run again in its backward
 * instead of keeping its activations (Chen et al. 2016, arXiv:1604.06174). What `work` makes is
 * freed except its result, now if no tape records or nothing in it depends on a tracked tensor.
 *
 * @param input  handed to every run of `work`. A variable that changes, such as the `x` of a loop
 *               over blocks, must be handed in here
 * @param work   synchronous, and the same at every run: it may read what is outside, but change
 *               nothing there but what a second run leaves as it is
 * @returns the result of `work`: a tensor, or an array or record of tensors
 */
export function recomputable<Input, Result>(input: Input, work: (input: Input) => Result): Result {
  const run = () => work(input);
  return current === undefined ? scope(run) : current.block(run);
}

/**
 * Records ops that depend on the tracked tensors and gives their gradients.
 *
 *   const tape = new Tape(parameters);
 *   const loss = tape.run(() => forward());
 *   const gradients = tape.backward([[loss, gradLoss]]);
 *   tape.dispose();
 *
 * An activation is freed once the backward pass no longer needs it, or by `dispose()`. Read it
 * before.
 */
export class Tape {
  readonly #tracked: readonly Tensor[];
  /** Storages that depend on a tracked tensor. */
  readonly #reached = new Set<Storage>();
  /** Outputs of recorded ops that no gradient is defined for, such as linearLogprob's lse. */
  readonly #opaque = new Set<Storage>();
  readonly #nodes: Node[] = [];
  readonly #scope = new Scope();
  /** Scopes of the blocks that run again now, the innermost last. */
  readonly #blockScopes: Scope[] = [];
  readonly #recomputes: boolean;
  #isSpent = false;

  /** @throws StateError if a tensor is a slice, or two are the same memory */
  constructor(tracked: readonly Tensor[], { recompute = false }: TapeOptions = {}) {
    this.#tracked = tracked;
    this.#recomputes = recompute;
    for (const tensor of tracked) {
      if (!tensor.isWhole || this.#reached.has(tensor.storage)) {
        throw new StateError(
          `A tracked tensor ${formatShape(tensor.shape)} shares its memory with others. ` +
            'Track each whole tensor once and take slices inside run().',
        );
      }
      this.#reached.add(tensor.storage);
    }
  }

  /** Runs synchronous work under this tape; its tensors belong to the tape. */
  run<T>(work: () => T): T {
    return this.#recording(() => this.#scope.run(work));
  }

  #recording<T>(work: () => T): T {
    const outer = current;
    current = this;
    try {
      return work();
    } finally {
      current = outer;
    }
  }

  /** Called by `recomputable` for a part of the forward. */
  block<T>(work: () => T): T {
    const start = this.#nodes.length;
    const inner = new Scope();
    try {
      const result = inner.run(work);
      const outputs = [...tensorsIn(result)];
      const isRecorded = this.#nodes.length > start;
      if (isRecorded && !this.#recomputes) {
        inner.keepAll();
        return result;
      }
      this.#nodes.length = start;
      if (isRecorded) this.#nodes.push({ kind: 'block', work, outputs });
      for (const output of outputs) inner.keep(output);
      return result;
    } finally {
      inner.dispose();
    }
  }

  /**
   * Called by `apply` for every op that ran.
   *
   * @throws UnsupportedError where recording on would silently lose a gradient
   */
  record(
    op: Op,
    inputs: Tensors,
    outputs: Readonly<Record<string, Tensor>>,
    scalars: Scalars | undefined,
  ): void {
    const wanted: string[] = [];
    for (const name in op.inputs) {
      const input = inputs[name];
      if (input === undefined || input.dtype === 'i32') continue;
      const isOpaque = this.#opaque.has(input.storage);
      if (!isOpaque && !this.#reached.has(input.storage)) continue;
      if (isOpaque || op.inputs[name].grad !== true || op.backward === undefined) {
        throw new UnsupportedError(
          `${op.id}: ${name} depends on a tracked tensor, but ` +
            `${isOpaque ? 'the op that made it' : op.id} has no gradient for it. ` +
            'Run the op inside constant() if none is needed.',
        );
      }
      wanted.push(name);
    }
    if (wanted.length === 0) return;
    for (const name in outputs) {
      const isDifferentiable = op.outputs[name].grad === true;
      (isDifferentiable ? this.#reached : this.#opaque).add(outputs[name].storage);
    }
    this.#nodes.push({ kind: 'op', op, scalars, inputs, outputs, wanted });
  }

  /**
   * Gradients of Σ ⟨seed gradient, seed tensor⟩ by every tracked tensor, in the order tracked;
   * `undefined` where nothing depends on one. Contributions add up in reverse order of use.
   * The seeds stay the caller's. May be called once.
   *
   * @throws ShapeError if a seed's gradient has another size than its tensor
   */
  backward(seeds: readonly (readonly [Tensor, Tensor])[]): (Tensor | undefined)[] {
    const device = this.#tracked[0]?.device;
    if (this.#isSpent || device === undefined) {
      throw new StateError(
        this.#isSpent
          ? 'This tape has run backward already and has freed what it recorded. Record again.'
          : 'A tape without tracked tensors has no gradients. Pass them to new Tape().',
      );
    }
    for (const [target, gradient] of seeds) {
      if (target.size !== gradient.size) {
        throw new ShapeError(
          `The seed of a ${formatShape(target.shape)} tensor is ${formatShape(gradient.shape)}. ` +
            'Pass a gradient of the same size.',
        );
      }
    }
    this.#isSpent = true;
    const sum = new GradientSum(device);
    try {
      for (const [target, gradient] of seeds) sum.give(target, gradient.array, false);
      for (let node = this.#nodes.pop(); node !== undefined; node = this.#nodes.pop()) {
        if (node.kind === 'op') this.#reverseOp(node, sum);
        else if (node.kind === 'block') this.#runAgain(node, sum);
        else this.#blockScopes.pop()?.dispose();
      }
      return this.#tracked.map((tracked) => sum.take(tracked));
    } finally {
      sum.dispose();
    }
  }

  #reverseOp(node: OpNode, sum: GradientSum): void {
    reverse(node, sum);
    for (const { storage } of Object.values(node.outputs)) {
      sum.drop(storage);
      this.#owner.release(storage);
    }
  }

  /** Records a block as if it had not been left out; its nodes are the next to be reversed. */
  #runAgain({ work, outputs }: BlockNode, sum: GradientSum): void {
    const before = this.#owner;
    const inner = new Scope();
    this.#blockScopes.push(inner);
    this.#nodes.push({ kind: 'blockStart' });
    const again = [...tensorsIn(this.#recording(() => inner.run(work)))];
    outputs.forEach(({ storage }, i) => {
      const { storage: now } = again[i];
      if (now === storage) return;
      sum.move(storage, now);
      before.release(storage);
    });
  }

  /** The scope of the activations that the backward has reached. */
  get #owner(): Scope {
    return this.#blockScopes.at(-1) ?? this.#scope;
  }

  /** Frees what is left of the recorded activations. */
  dispose(): void {
    this.#nodes.length = 0;
    for (const inner of this.#blockScopes) inner.dispose();
    this.#blockScopes.length = 0;
    this.#scope.dispose();
  }
}

/** Turns the gradients of a node's outputs into those of its inputs. */
function reverse({ op, scalars, inputs, outputs, wanted }: OpNode, sum: GradientSum): void {
  const outputGradients: Record<string, DeviceArray> = {};
  for (const name in outputs) {
    const gradient = sum.of(outputs[name]);
    if (gradient !== undefined) outputGradients[name] = gradient;
  }
  if (Object.keys(outputGradients).length === 0) return;
  const { device } = Object.values(outputs)[0];
  const gradients = device.backward(
    op,
    outputGradients,
    arraysOf(inputs),
    arraysOf(outputs),
    scalars,
    wanted,
  );
  for (const name of wanted) {
    const input = inputs[name];
    if (input !== undefined) sum.give(input, gradients[name], true);
  }
}

function arraysOf(tensors: Tensors): Record<string, DeviceArray | undefined> {
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, tensor?.array]));
}
