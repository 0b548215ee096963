/** Shows how the step treated each token, as rows of words. */
import { explanationRow } from '@saccade/algorithms';

/** @param {import('@saccade/algorithms').StepExplanation} explanation */
export function rowsOf(explanation) {
  return Array.from(explanation.sequences, (_, token) => {
    const row = explanationRow(explanation, token);
    return {
      answer: row.sequence,
      token,
      advantage: row.advantage.toFixed(3),
      ratio: row.ratio.toFixed(3),
      clip: row.clip,
      cause: row.cause,
      gradient: row.gradLogprob.toFixed(4),
    };
  });
}
