/** Asks judges before scoring, which is synchronous, and hands their grades to it. */
import { mapBox } from '@saccade/code-effects';
import { everyTrajectory, type Group, isToolUse, type Trajectory } from '@saccade/trajectory';
import type { Ask } from './ask-judge.ts';
import type { ScoringTask } from './context.ts';
import type { AnswerInput } from './judges/answer-judge.ts';
import type { CropInput } from './judges/crop-judge.ts';
import type { Verifier } from './reward.ts';
import { RewardError } from './score.ts';
import { judge, type VerdictOptions } from './verdict.ts';

/** Options of `judgedVerifier`: the rules that decide first, and the judge for what they refuse. */
export interface JudgedOptions {
  readonly question: string;
  /** Decides first; what it accepts needs no judge. */
  readonly verifier: Verifier;
  readonly ask: Ask<AnswerInput>;
  readonly verdict?: VerdictOptions;
}

/**
 * A verifier that knows the judge's grade of every answer of a group: rules first, then the model.
 * Pass it to `scoreGroup` in place of the rules.
 *
 * Equal answers are asked once. An answer on which the judge failed makes the verifier throw the
 * judge's RewardError, so that its trajectories fail at the boundary `reward` and are not scored 0.
 * Answers that are refused (see `Refusal`) are never put before the judge.
 */
export async function judgedVerifier(
  group: Group,
  task: ScoringTask,
  options: JudgedOptions,
): Promise<Verifier> {
  const { question, verifier, ask, verdict } = options;
  const scores = new Map<string, number | RewardError>();
  await Promise.all(
    everyTrajectory(group).map(async (trajectory) => {
      if (trajectory.stopReason === 'failed') return;
      const { answer, score, isCorrect } = judge(trajectory, task.answer, verifier, verdict);
      if (answer === undefined || scores.has(answer)) return;
      scores.set(answer, score);
      if (isCorrect || answer.trim() === '') return;
      const grade = await ask({ question, answer, expected: task.answer }).catch(asRewardError);
      scores.set(answer, grade);
    }),
  );
  return {
    ...verifier,
    name: `${verifier.name}, then a judge`,
    verify(answer, expected) {
      const score = expected === task.answer ? scores.get(answer) : undefined;
      if (score instanceof RewardError) throw score;
      return score ?? verifier.verify(answer, expected);
    },
  };
}

/**
 * A judge's grade of every tool turn of a trajectory: the best of the images it brought, undefined for
 * turns without. With it comes nothing that the model wrote.
 *
 * @param ask `cropJudge` with a model, or `faithfulnessJudge` (CodeV's algorithm 1)
 * @throws RewardError if the judge failed
 */
export async function gradeCrops(
  trajectory: Pick<Trajectory, 'turns' | 'segments'>,
  question: string,
  ask: Ask<CropInput>,
): Promise<readonly (number | undefined)[]> {
  return Promise.all(
    trajectory.turns.map(async (turn) => {
      const seen = trajectory.segments[turn.segment + 1];
      if (!isToolUse(turn.action) || seen?.kind !== 'observation') return undefined;
      const grades = await Promise.all(
        seen.images.map(({ png, width, height, origin }) => {
          const box = origin && mapBox(origin.map, [0, 0, width, height]);
          const place = box && { left: box[0], top: box[1], right: box[2], bottom: box[3] };
          return ask({ question, png, metadata: { width, height, ...place } });
        }),
      );
      return grades.length === 0 ? undefined : Math.max(...grades);
    }),
  );
}

function asRewardError(error: unknown): RewardError {
  if (error instanceof RewardError) return error;
  return new RewardError(`The answer judge broke: ${String(error)}`, { cause: error });
}
