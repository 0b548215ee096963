/** The value head: a linear layer beside the LM head that predicts the return from a hidden state. */
import { linearLayer, type ParameterSpec, type Parameters } from '@saccade/nn';
import type { Tensor } from '@saccade/tensor';

const NAME = 'value_head';

export function isValueHeadName(name: string): boolean {
  return name.startsWith(`${NAME}.`);
}

/** A policy that begins to learn values predicts 0 everywhere. */
export function valueHeadSpecs(hidden: number): readonly ParameterSpec[] {
  const initializer = { kind: 'constant', value: 0 } as const;
  return [
    { name: `${NAME}.weight`, shape: [1, hidden], initializer },
    { name: `${NAME}.bias`, shape: [1], initializer },
  ];
}

/** V = hidden·wᵀ + b: hidden [N, D] after the final norm → [N]; undefined without a value head. */
export function predictValues(parameters: Parameters, hidden: Tensor): Tensor | undefined {
  if (parameters[`${NAME}.weight`] === undefined) return undefined;
  return linearLayer(parameters, NAME, hidden, true).reshape([hidden.shape[0] as number]);
}
