/** The log-softmax of one row of logits in float64, on which both ops of this package are built. */
import type { Dims, Values } from '@saccade/ops';

export interface LogSoftmaxRow {
  /** [V] logits divided by the temperature. */
  readonly z: Float64Array;
  /** [V] ln p. */
  readonly logP: Float64Array;
  /** ln Σ exp z. */
  readonly lse: number;
  /** −Σ p·ln p. */
  readonly entropy: number;
}

/** Row n of z = hidden·weightᵀ / temperature and its log-softmax. */
export function logSoftmaxRow(
  hidden: Values[string],
  weight: Values[string],
  n: number,
  { D, V }: Dims,
  temperature: number,
): LogSoftmaxRow {
  const z = new Float64Array(V);
  let max = Number.NEGATIVE_INFINITY;
  for (let j = 0; j < V; j++) {
    let dot = 0;
    for (let d = 0; d < D; d++) dot += hidden[n * D + d] * weight[j * D + d];
    z[j] = dot / temperature;
    // NaN must win, or a broken row would look like a good one.
    if (!(z[j] <= max)) max = z[j];
  }
  let sum = 0;
  for (let j = 0; j < V; j++) sum += Math.exp(z[j] - max);
  const lse = max + Math.log(sum);
  const logP = z.map((logit) => logit - lse);
  let entropy = 0;
  for (let j = 0; j < V; j++) {
    const p = Math.exp(logP[j]);
    if (p !== 0) entropy -= p * logP[j];
  }
  return { z, logP, lse, entropy };
}
