/** A scheduler's state as JSON; its trajectories are separate, referred to by id. */
import { DataError } from '@saccade/core';
import type { ScoredTrajectory } from '@saccade/trajectory';

/** A scheduler's state as JSON, and the trajectories it refers to by id. */
export interface FormattedState {
  readonly json: string;
  /** The trajectories that the state refers to, each once. Store them with the JSON. */
  readonly trajectories: readonly ScoredTrajectory[];
}

/** A state as data. The state that `parseState` restores answers every event like the original. */
export function formatState(state: unknown): FormattedState {
  const trajectories = new Map<string, ScoredTrajectory>();
  const json = JSON.stringify(state, (_, value: unknown) => {
    if (isTrajectory(value)) {
      trajectories.set(value.id, value);
      return { $trajectory: value.id };
    }
    if (value instanceof Float64Array) return { $float64: Array.from(value, exact) };
    return typeof value === 'number' ? exact(value) : value;
  });
  return { json, trajectories: [...trajectories.values()] };
}

/**
 * The state that was formatted.
 *
 * @param find the trajectory of an id
 * @throws DataError if it is no JSON, or a trajectory is missing
 */
export function parseState(
  json: string,
  find: (id: string) => ScoredTrajectory | undefined,
): unknown {
  try {
    return JSON.parse(json, (_, value: unknown) => {
      if (typeof value !== 'object' || value === null) return value;
      const record = value as Readonly<Record<string, unknown>>;
      if (typeof record.$number === 'string') return Number(record.$number);
      if (Array.isArray(record.$float64)) return Float64Array.from(record.$float64);
      if (typeof record.$trajectory !== 'string') return value;
      const trajectory = find(record.$trajectory);
      if (trajectory !== undefined) return trajectory;
      throw new DataError(
        `The scheduler's state needs trajectory ${record.$trajectory}, which is not there. ` +
          'Keep the trajectories that formatState gave with the state.',
      );
    });
  } catch (error) {
    if (error instanceof DataError) throw error;
    throw new DataError('The state of a scheduler is no JSON. Start the run again.', {
      cause: error,
    });
  }
}

/** JSON has neither infinities nor NaN, and loses the sign of zero. */
function exact(value: number): unknown {
  return Number.isFinite(value) && !Object.is(value, -0)
    ? value
    : { $number: Object.is(value, -0) ? '-0' : String(value) };
}

function isTrajectory(value: unknown): value is ScoredTrajectory {
  return typeof value === 'object' && value !== null && 'sampleIndex' in value && 'turns' in value;
}
