/** Asks judges everything that a group's rewards want to know of them, before it is scored. */
import { everyTrajectory, type Group, isToolUse, type Trajectory } from '@saccade/trajectory';
import type { Ask } from './ask-judge.ts';
import { type Judged, makeContext, type ScoringTask } from './context.ts';
import { gradeCrops, judgedVerifier } from './judged.ts';
import type { AnswerInput } from './judges/answer-judge.ts';
import type { ConsistencyInput } from './judges/consistency-judge.ts';
import type { CropInput } from './judges/crop-judge.ts';
import type { ErrorInput } from './judges/error-judge.ts';
import type { FaithfulnessInput } from './judges/faithfulness-judge.ts';
import type { ProcessInput } from './judges/process-judge.ts';
import type { JudgedInput, RewardContext, Verifier } from './reward.ts';
import { allBetween, modelTexts } from './rewards/model-text.ts';
import { RewardError, type RewardTerm, type Scoring } from './score.ts';

/** Judges that can be asked; one that is absent cannot be. */
export interface GroupJudges {
  /** About answers that the verifier does not accept; without it the verifier decides alone. */
  readonly answer?: Ask<AnswerInput>;
  readonly crop?: Ask<CropInput>;
  readonly process?: Ask<ProcessInput>;
  readonly consistency?: Ask<ConsistencyInput>;
  /** About wrong answers whose error no rule can tell: for metrics, never for rewards. */
  readonly errors?: Ask<ErrorInput>;
  /** About images of tools, yes or no: for evaluations, never for rewards. */
  readonly faithfulness?: Ask<FaithfulnessInput>;
  /** Asked before `crop` and `consistency`. */
  readonly rules?: RuleJudges;
}

/** Rules that know a task's truth and grade in place of a model. They throw RewardError, or grade. */
export interface RuleJudges {
  /** The grade of every execution, in order, 0 to 1. */
  steps?(trajectory: Trajectory, context: RewardContext): readonly number[];
  /** Whether the answer follows from what came before it, 0 to 1. */
  consistency?(trajectory: Trajectory, context: RewardContext): number;
}

/** The inputs among `needed` that judges cannot give. */
export function missingInputs(
  { crop, process, consistency, rules }: GroupJudges,
  needed: Iterable<JudgedInput>,
): readonly JudgedInput[] {
  const has: Readonly<Record<JudgedInput, boolean>> = {
    stepScores: crop !== undefined || rules?.steps !== undefined,
    'judgeScores.process': process !== undefined,
    'judgeScores.consistency': consistency !== undefined || rules?.consistency !== undefined,
  };
  return [...needed].filter((input) => !has[input]);
}

/** The input of `scoreGroup`. */
export interface JudgedGroup {
  /** The rules, then what the answer judge said. */
  readonly verifier: Verifier;
  /** By the trajectory's id: what judges found, or why they failed. */
  readonly judged: ReadonlyMap<string, Judged | RewardError>;
}

/** The inputs that the terms of a reward need from judges. */
export function judgedInputs(terms: readonly RewardTerm[]): ReadonlySet<JudgedInput> {
  return new Set(terms.flatMap(({ reward }) => reward.needs ?? []));
}

/**
 * Asks the judges that the terms need, for every trajectory that has not failed, and the baseline. A judge that fails
 * fails the trajectory it was asked about, and no other.
 */
export async function judgeGroup(
  group: Group,
  task: ScoringTask,
  scoring: Scoring,
  judges: GroupJudges,
): Promise<JudgedGroup> {
  const { verifier, verdict, terms } = scoring;
  const { question = '' } = task;
  const needs = judgedInputs(terms);
  const { answer: ask } = judges;
  const [decided, ...found] = await Promise.all([
    ask === undefined
      ? verifier
      : judgedVerifier(group, task, { question, verifier, ask, ...(verdict && { verdict }) }),
    ...everyTrajectory(group)
      .filter(({ stopReason }) => stopReason !== 'failed')
      .map(async (trajectory) => {
        const context = (): RewardContext => makeContext(trajectory, task, scoring);
        const asked = { question, needs, context };
        const judged = await judgeTrajectory(trajectory, asked, judges).catch(asFailure);
        return [trajectory.id, judged] as const;
      }),
  ]);
  return { verifier: decided, judged: new Map(found) };
}

interface Asked {
  readonly question: string;
  readonly needs: ReadonlySet<JudgedInput>;
  /** For rules; made only where they are asked. */
  readonly context: () => RewardContext;
}

async function judgeTrajectory(
  trajectory: Trajectory,
  { question, needs, context }: Asked,
  judges: GroupJudges,
): Promise<Judged> {
  const [missing] = missingInputs(judges, needs);
  if (missing !== undefined) throw new RewardError(`No judge gives ${missing}. Choose another.`);
  const { crop, process, consistency, rules } = judges;
  const scores: Record<string, number> = {};
  const response = modelTexts(trajectory).join('\n');
  if (needs.has('judgeScores.process') && process !== undefined) {
    const images = trajectory.segments.flatMap((segment) => segment.images.map(({ png }) => png));
    scores.process = await process({ question, response, images });
  }
  if (needs.has('judgeScores.consistency')) {
    if (rules?.consistency !== undefined) {
      scores.consistency = rules.consistency(trajectory, context());
    } else if (consistency !== undefined) {
      const thought = allBetween(response, '<think>', '</think>').at(-1) ?? '';
      scores.consistency = await consistency({ thought, answer: trajectory.answer ?? '' });
    }
  }
  if (!needs.has('stepScores')) return { judgeScores: scores };
  if (rules?.steps !== undefined) {
    return { judgeScores: scores, stepScores: rules.steps(trajectory, context()) };
  }
  const grades = crop === undefined ? [] : await gradeCrops(trajectory, question, crop);
  // An execution without an image shows nothing of the object asked about: less than an image of
  // something else, which the judge gives 0.25.
  const stepScores = trajectory.turns.flatMap(({ action }, turn) =>
    isToolUse(action) ? [grades[turn] ?? 0] : [],
  );
  return { judgeScores: scores, stepScores };
}

function asFailure(error: unknown): RewardError {
  if (error instanceof RewardError) return error;
  throw error;
}
