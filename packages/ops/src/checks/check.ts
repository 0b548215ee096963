/** A check of a device: a sentence, what it needs of the backend, and a function that throws. */
import type { DType } from '@saccade/core';
import type { Backend, Direction } from '../backend.ts';
import { outputDtypes } from '../check-operands.ts';
import type { Device } from '../device.ts';
import { dtypeOf } from '../draw-inputs.ts';
import { gradientDtype, type Op } from '../op.ts';
import { formOf } from '../op-form.ts';

/** What is checked: an open device, and how to open more of its kind. */
export interface Subject {
  /** All checks share it, one after the other. */
  readonly device: Device;
  /** Another, on a backend of its own; the check disposes of it. */
  open(): Device | Promise<Device>;
}

export interface DeviceCheck {
  /** The sentence it proves, its subject first; no two checks of a list have the same. */
  readonly name: string;
  /** The launches it makes: a backend that refuses one of them is not held to the check. */
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

/** What checks are made with. */
export interface CheckOptions {
  /** What activations and weights are stored as. Default f32. */
  readonly dtype?: DType;
  /** Random cases of every op beside its fixed ones. Default 4. */
  readonly fuzzCount?: number;
  /** Takes the ops without their backward, for a backend that has none. Default false. */
  readonly forwardOnly?: boolean;
}

/** The launches of an op, those of its backward too if it has one. */
export function needsOf(op: Op, dtype: DType): readonly Need[] {
  const forward: Need = { op, direction: 'forward', dtype };
  return op.backward === undefined ? [forward] : [forward, { ...forward, direction: 'backward' }];
}

/** Why a backend cannot be held to a check, in the backend's own words; `undefined` if it can. */
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

/** Which checks a backend is not held to and why, in lines for people; `undefined` if to all. */
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
