/** AdamW whose moments are stored in 8 bits. */
import { count, readSettings } from '@saccade/core/settings';
import { adamwStep, dequantizeBlocks, quantizeBlocks } from '@saccade/ops';
import { apply, type Tensor, tensor, zeros } from '@saccade/tensor';
import { z } from 'zod';
import { emptyLike, flat, zerosLike } from '../arrays.ts';
import { dynamicMap } from '../dynamic-map.ts';
import { type OptimizerUnit, optimizerOf } from '../optimizer.ts';
import { type OptimizerState, stateNumber, stateTensor } from '../state.ts';
import type { Tensors } from '../transformation.ts';
import { beta1, beta2, decayFilter, decays, eps, maxGradNorm, weightDecay } from './fields.ts';

const settings = z.strictObject({
  beta1: beta1(0.9),
  beta2: beta2(0.999, 'Decay of the mean of squared gradients, β₂.'),
  eps,
  weightDecay,
  decays,
  maxGradNorm,
  minSize: count({
    min: 0,
    max: 1_000_000_000,
    default: 4096,
    unit: 'elements',
    about: 'Parameters with fewer elements keep moments in 32 bits.',
  }),
});

/** Elements that share a scale, as in `quantizeBlocks`. */
const BLOCK = 256;

/**
 * The step of `adamw` between dequantization and quantization of both moments: block-wise, with the
 * dynamic tree map, signed for m and unsigned for v.
 *
 * Dettmers et al. 2021, arXiv:2110.02861; blocks of 256 and the limit of 4096 elements are those
 * of bitsandbytes. A moment takes 1 byte and 1/64 instead of 4.
 * State: `step`; `m.<name>`, `v.<name>` where small, else `m-codes.<name>`, `m-scales.<name>` and
 * the same for v.
 */
export const adamw8bit: OptimizerUnit<typeof settings> = {
  name: 'adamw-8bit',
  description: 'AdamW with its moments in a quarter of the memory.',
  settings,
  create(given = {}) {
    const chosen = readSettings('optimizer', settings, given);
    const isDecaying = decayFilter(chosen.decays);
    const isSmall = ({ size }: Tensor) => size < chosen.minSize;
    const init = (parameters: Tensors) => ({
      numbers: { step: 0 },
      tensors: Object.fromEntries(
        Object.entries(parameters).flatMap(([name, parameter]) =>
          (['m', 'v'] as const).flatMap((key) => zeroMoment(key, name, parameter, isSmall)),
        ),
      ),
    });
    return optimizerOf(adamw8bit.name, chosen, init, async (call) => {
      const { parameters, gradients, state, info, sumSquares } = call;
      const step = stateNumber(state, 'step') + 1;
      const maps = { m: tableOn(sumSquares, true), v: tableOn(sumSquares, false) };
      try {
        for (const [name, gradient] of Object.entries(gradients)) {
          const parameter = parameters[name] ?? gradient;
          const m = openMoment(state, 'm', name, parameter, maps.m);
          const v = openMoment(state, 'v', name, parameter, maps.v);
          const operands = { param: flat(parameter), m: flat(m.values), v: flat(v.values) };
          apply(
            adamwStep,
            { ...operands, grad: flat(gradient), sumSquares },
            {
              learningRate: info.learningRate,
              beta1: chosen.beta1,
              beta2: chosen.beta2,
              eps: chosen.eps,
              weightDecay: isDecaying(name, parameter) ? chosen.weightDecay : 0,
              step,
              maxNorm: chosen.maxGradNorm,
            },
          );
          m.close();
          v.close();
        }
      } finally {
        maps.m.dispose();
        maps.v.dispose();
      }
      return { ...state, numbers: { step } };
    });
  },
};

/** A moment of zeros: with scale 0 every code stands for 0. */
function zeroMoment(
  key: 'm' | 'v',
  name: string,
  parameter: Tensor,
  isSmall: (parameter: Tensor) => boolean,
): readonly (readonly [string, Tensor])[] {
  if (isSmall(parameter)) return [[`${key}.${name}`, zerosLike(parameter)]];
  const { device, size } = parameter;
  return [
    [`${key}-codes.${name}`, zeros(device, 'i32', [Math.ceil(size / 4)])],
    [`${key}-scales.${name}`, zeros(device, 'f32', [Math.ceil(size / BLOCK)])],
  ];
}

/** A moment's values in 32 bits; `close` stores them again. */
function openMoment(
  state: OptimizerState,
  key: 'm' | 'v',
  name: string,
  parameter: Tensor,
  table: Tensor,
): { readonly values: Tensor; close(): void } {
  const codes = state.tensors[`${key}-codes.${name}`];
  if (codes === undefined) {
    return { values: stateTensor(state, `${key}.${name}`), close: () => {} };
  }
  const scales = stateTensor(state, `${key}-scales.${name}`);
  const values = emptyLike(parameter);
  apply(dequantizeBlocks, { codes, scales, table, x: flat(values) });
  return {
    values,
    close() {
      apply(quantizeBlocks, { x: flat(values), table, codes, scales });
      values.dispose();
    },
  };
}

function tableOn({ device }: Tensor, isSigned: boolean): Tensor {
  return tensor(device, 'f32', [256], dynamicMap(isSigned));
}
