/** The algorithms that this loop can run. */
import { algorithms } from '@saccade/algorithms';

/** Those that want nothing but rewards and log-probs, and no stage but the loss. */
export function algorithmNames(): readonly string[] {
  return algorithms
    .entries()
    .filter(([, { needs, stages }]) => needs.length + stages.length === 0)
    .map(([name]) => name);
}
