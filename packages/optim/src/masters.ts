/**
 * Masters: f32 copies of parameters in 16 bits, which an optimizer steps in their place. A step is
 * smaller than the distance of two bf16 numbers, so that most of it would be lost in each
 * (Micikevicius et al. 2017, arXiv:1710.03740, section 3.1).
 */
import { convert } from '@saccade/core';
import type { Tensor } from '@saccade/tensor';
import { emptyLike } from './arrays.ts';
import type { OptimizerState } from './state.ts';
import type { Tensors } from './transformation.ts';

const PREFIX = 'master.';
/** 1 once the masters hold the parameters; there is no such number where no parameter has one. */
const FILLED = 'masters';
/** Elements on the host at a time. */
const CHUNK = 1 << 22;

const isMaster = (key: string): boolean => key.startsWith(PREFIX);

/** The state of an optimizer's own `init`, for the parameters that it steps, with the masters. */
export function withMasters(
  parameters: Tensors,
  init: (stepped: Tensors) => OptimizerState,
): OptimizerState {
  const masters: Record<string, Tensor> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    if (parameter.dtype !== 'f32') masters[name] = emptyLike(parameter);
  }
  const { numbers, tensors } = init({ ...parameters, ...masters });
  const entries = Object.entries(masters);
  if (entries.length === 0) return { numbers, tensors };
  return {
    numbers: { ...numbers, [FILLED]: 0 },
    tensors: {
      ...tensors,
      ...Object.fromEntries(entries.map(([name, master]) => [PREFIX + name, master])),
    },
  };
}

/** The parameters that an optimizer steps, and its own state. Masters are filled at their first. */
export async function separate(
  parameters: Tensors,
  { numbers, tensors }: OptimizerState,
): Promise<{ readonly stepped: Tensors; readonly own: OptimizerState }> {
  const { [FILLED]: filled, ...ownNumbers } = numbers;
  const stepped: Record<string, Tensor> = { ...parameters };
  const own: Record<string, Tensor> = {};
  for (const [key, tensor] of Object.entries(tensors)) {
    if (!isMaster(key)) {
      own[key] = tensor;
      continue;
    }
    const parameter = parameters[key.slice(PREFIX.length)];
    if (parameter === undefined) continue;
    if (filled === 0) await copy(parameter, tensor);
    stepped[key.slice(PREFIX.length)] = tensor;
  }
  return { stepped, own: { numbers: ownNumbers, tensors: own } };
}

/** The state after a step of the optimizer's own state, with the parameters rounded from masters. */
export async function rejoin(
  parameters: Tensors,
  stepped: Tensors,
  { tensors }: OptimizerState,
  own: OptimizerState,
): Promise<OptimizerState> {
  const masters = Object.entries(tensors).filter(([key]) => isMaster(key));
  if (masters.length === 0) return own;
  for (const [name, parameter] of Object.entries(parameters)) {
    const master = stepped[name];
    if (master !== undefined && master !== parameter) await copy(master, parameter);
  }
  return {
    numbers: { ...own.numbers, [FILLED]: 1 },
    tensors: { ...own.tensors, ...Object.fromEntries(masters) },
  };
}

/** Copies elements, rounded to the target's type, a part at a time. */
async function copy(from: Tensor, to: Tensor): Promise<void> {
  const [source, target] = [from.reshape([from.size]), to.reshape([to.size])];
  for (let first = 0; first < from.size; first += CHUNK) {
    const end = Math.min(from.size, first + CHUNK);
    const stored = await source.rows(first, end).readStored();
    target.rows(first, end).writeStored(convert(stored, from.dtype, to.dtype));
  }
}
