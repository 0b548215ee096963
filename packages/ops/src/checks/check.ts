/** A check of a device: a sentence, what it needs of the backend, and a function that throws. */
import type { DType } from '@saccade/core';
import type { Backend, Direction } from '../backend.ts';
import { outputDtypes } from '../check-operands.ts';
import type { Device } from '../device.ts';
import { dtypeOf } from '../draw-inputs.ts';
import { gradientDtype, type Op } from '../op.ts';
import { formOf } from '../op-form.ts';

/** The device under test, and how to open another one of its kind. */
export interface Subject {
  /** Shared by all checks, which run one after another. */
  readonly device: Device;
  /** Opens another device on a backend of its own; the check disposes of it. */
  open(): Device | Promise<Device>;
}

/** One requirement on a backend, as a function that any test runner can run. */
export interface DeviceCheck {
  /** The sentence it proves, subject first; unique in its list. */
  readonly name: string;
  /** The launches it makes. The check does not apply to a backend that refuses one of them. */
  readonly needs: readonly Need[];
  /** @throws ContractError  saying what is wrong, and in which case */
  run(subject: Subject): Promise<void>;
}

/** A launch of an op with its floats stored as `dtype`. */
export interface Need {
  readonly op: Op;
  readonly direction: Direction;
  readonly dtype: DType;
}

/** Options for making a list of checks. */
export interface CheckOptions {
  /** Storage type of activations and weights. Default f32. */
  readonly dtype?: DType;
  /** Number of fixed cases of every op at most, spread over its list to the last. Default all. */
  readonly caseCount?: number;
  /** Number of random cases of every op, besides its fixed ones. Default 4. */
  readonly fuzzCount?: number;
  /** Leaves out the backward of every op, for a backend that has none. Default false. */
  readonly forwardOnly?: boolean;
}

/** The launches of an op: its forward, and its backward if it has one. */
export function needsOf(op: Op, dtype: DType): readonly Need[] {
  const forward: Need = { op, direction: 'forward', dtype };
  return op.backward === undefined ? [forward] : [forward, { ...forward, direction: 'backward' }];
}

/** The backend's reason why a check does not apply to it; `undefined` if it applies. */
export function whyNot({ needs }: DeviceCheck, backend: Backend): string | undefined {
  for (const { op, direction, dtype } of needs) {
    const inputDtype = (name: string): DType => dtypeOf(op.inputs[name], dtype);
    const outputs = outputDtypes(op, inputDtype);
    const dtypes = formOf(op).order[direction].map(({ role, name }) => {
      if (role === 'input') return inputDtype(name);
      return role === 'gradInput'
        ? gradientDtype(op.inputs[name], inputDtype(name))
        : outputs[name];
    });
    const answer = backend.supports(op, direction, dtypes, op.cases[0]?.dims ?? {});
    if (answer !== true) return answer;
  }
  return undefined;
}

/**
 * A readable list of the checks that do not apply to a backend, by reason; `undefined` if all do.
 */
export function listSkipped(checks: readonly DeviceCheck[], backend: Backend): string | undefined {
  const byReason = new Map<string, string[]>();
  for (const check of checks) {
    const reason = whyNot(check, backend);
    if (reason === undefined) continue;
    byReason.set(reason, [...(byReason.get(reason) ?? []), check.name]);
  }
  if (byReason.size === 0) return undefined;
  const lines = Array.from(byReason, ([reason, names]) => {
    return `  ${names.length} (${names[0]}${names.length > 1 ? ', …' : ''}): ${reason}`;
  });
  return [`Checks that are skipped on ${backend.description}:`, ...lines].join('\n');
}
