/** Faithfulness of tool use (CodeV, algorithm 1) in the trajectories that a run or an evaluation keeps. */
import { messageOf } from '@saccade/core';
import {
  type Ask,
  type CallBucket,
  type ContextOptions,
  callBuckets,
  type EvidencePair,
  exact,
  type Faithfulness,
  type FaithfulnessInput,
  faithfulness,
  faithfulnessSample,
  gradeCrops,
  judgeAgreement,
  makeContext,
  RewardError,
  type ScoringTask,
  stepOverlaps,
  taskFacts,
} from '@saccade/rewards';
import { readTrajectorySet } from '@saccade/run-store';
import type { Kappa } from '@saccade/statistics';
import { isToolUse, type ScoredTrajectory } from '@saccade/trajectory';
import { readStoredRun, type StoredSet } from './stored-run.ts';

/** How the images of tools are judged. */
export interface FaithfulnessOptions {
  /** Names of files without `.jsonl`; default: all evaluations, without any all steps. */
  readonly only?: readonly string[];
  /** IoU with the task's box from which on a crop is evidence. */
  readonly cropIou: number;
  /** Asked of every image that a tool gave; without it boxes decide. */
  readonly ask?: Ask<FaithfulnessInput>;
  /** How the run's code was followed. */
  readonly analysis?: ContextOptions['analysis'];
}

/** One trajectory as it was judged. */
export interface JudgedTrajectory {
  readonly id: string;
  readonly taskId: string;
  readonly question: string;
  readonly isCorrect: boolean;
  readonly toolCalls: number;
  /** Whether each execution is evidence; undefined for one without an image to judge. */
  readonly evidence: readonly (boolean | undefined)[];
}

/** The faithfulness of one file of trajectories. */
export interface SetFaithfulness {
  /** `evaluation-final`, `step-000010`. */
  readonly name: string;
  readonly trajectories: readonly JudgedTrajectory[];
  readonly faithfulness: Faithfulness;
  /** Share of the judged trajectories that are right; absent without any. */
  readonly accuracy?: number;
  readonly buckets: readonly CallBucket[];
  /** Images, or executions where boxes decide, that were judged. */
  readonly judged: number;
  /** Agreement of the judge with boxes, over executions that both decide. */
  readonly agreement?: Kappa;
}

/** The result of `readFaithfulness`. */
export interface RunFaithfulness {
  readonly directory: string;
  readonly by: 'boxes' | 'judge';
  readonly sets: readonly SetFaithfulness[];
  /** One sentence for each thing that could not be used. */
  readonly gaps: readonly string[];
}

/**
 * Judges the images of every kept trajectory whose task needs a search.
 *
 * A trajectory on which the judge fails is left out and counted among the gaps: it is neither faithful
 * nor unfaithful.
 *
 * @throws DataError if there is no run, or it keeps no trajectories
 */
export async function readFaithfulness(
  directory: string,
  options: FaithfulnessOptions,
): Promise<RunFaithfulness> {
  const stored = await readStoredRun(directory, options.only ?? 'all');
  const isEvaluation = ({ step }: StoredSet): boolean => step === undefined;
  const hasEvaluations = options.only === undefined && stored.sets.some(isEvaluation);
  const chosen = hasEvaluations ? stored.sets.filter(isEvaluation) : stored.sets;
  const gaps = [...stored.gaps];
  const sets: SetFaithfulness[] = [];
  for (const set of chosen) sets.push(await judgeSet(directory, set, options, gaps));
  return { directory, by: options.ask === undefined ? 'boxes' : 'judge', sets, gaps };
}

/** A trajectory with what a judge and the box say of its executions. */
interface Found {
  readonly trajectory: ScoredTrajectory;
  readonly question: string;
  readonly grades: readonly (number | undefined)[];
  readonly pairs: readonly EvidencePair[];
}

async function judgeSet(
  directory: string,
  set: StoredSet,
  options: FaithfulnessOptions,
  gaps: string[],
): Promise<SetFaithfulness> {
  const { ask } = options;
  const images = ask && imagesOf(directory, set.name);
  const missing = { search: 0, box: 0, pixels: 0, judge: [] as string[] };
  const found: Found[] = [];
  await Promise.all(
    set.groups.flatMap(({ task, question, trajectories }) =>
      trajectories.map(async (trajectory) => {
        if (taskFacts(task).needsSearch === false) {
          missing.search++;
          return;
        }
        const boxes = gradesByBox(trajectory, task, options);
        if (ask === undefined || images === undefined) {
          if (boxes === undefined) missing.box++;
          else found.push({ trajectory, question, grades: boxes, pairs: [] });
          return;
        }
        try {
          const seen = await images(trajectory);
          if (seen === undefined) missing.pixels++;
          else found.push(await askAbout(seen, { question, boxes, ask }));
        } catch (error) {
          if (!(error instanceof RewardError)) throw error;
          missing.judge.push(messageOf(error));
        }
      }),
    ),
  );
  gaps.push(...describeMissing(set.name, missing));
  // Judges answer in any order.
  found.sort((a, b) => (a.trajectory.id < b.trajectory.id ? -1 : 1));
  const samples = found.map(({ trajectory, grades }) => faithfulnessSample(trajectory, grades));
  const right = samples.filter(({ isCorrect }) => isCorrect).length;
  const agreement = judgeAgreement(found.flatMap(({ pairs }) => pairs));
  return {
    name: set.name,
    trajectories: found.map(judgedOf),
    faithfulness: faithfulness(samples),
    ...(samples.length > 0 && { accuracy: right / samples.length }),
    buckets: callBuckets(found),
    judged: found.flatMap(({ grades }) => grades.filter((grade) => grade !== undefined)).length,
    ...(agreement && { agreement }),
  };
}

/** Loads a kept trajectory with its images; undefined where one of a tool's is not there. */
function imagesOf(directory: string, name: string) {
  const lines = readTrajectorySet(directory, name).value;
  const byId = new Map(lines.map((line) => [line.trajectory.id, line]));
  return async (trajectory: ScoredTrajectory): Promise<ScoredTrajectory | undefined> => {
    const loaded = await byId.get(trajectory.id)?.load();
    if (loaded === undefined) return undefined;
    const { segments } = loaded.value;
    const isWhole = segments.every(
      ({ kind, images }) => kind !== 'observation' || images.every(({ png }) => png.byteLength > 0),
    );
    return isWhole ? { ...trajectory, segments } : undefined;
  };
}

async function askAbout(
  trajectory: ScoredTrajectory,
  {
    question,
    boxes,
    ask,
  }: {
    readonly question: string;
    readonly boxes: readonly number[] | undefined;
    readonly ask: Ask<FaithfulnessInput>;
  },
): Promise<Found> {
  const byTurn = await gradeCrops(trajectory, question, ask);
  const grades = trajectory.turns.flatMap(({ action }, turn) =>
    isToolUse(action) ? [byTurn[turn]] : [],
  );
  const pairs = grades.flatMap((grade, step): readonly EvidencePair[] => {
    const box = boxes?.[step];
    if (grade === undefined || box === undefined) return [];
    return [{ judge: grade === 1, box: box === 1 }];
  });
  return { trajectory, question, grades, pairs };
}

/** 1 for executions with a crop on the box, 0 for others; undefined where the box is not known. */
function gradesByBox(
  trajectory: ScoredTrajectory,
  task: ScoringTask,
  { cropIou, analysis }: FaithfulnessOptions,
): readonly number[] | undefined {
  // Its verdict stands: nothing is judged again.
  const { isCorrect } = trajectory;
  const verdict = { isCorrect, score: isCorrect ? 1 : 0 };
  const options = { verifier: exact, ...(analysis && { analysis }) };
  const context = makeContext(trajectory, task, options, { verdict });
  return stepOverlaps(trajectory, context)?.map(({ iou }) => (iou >= cropIou ? 1 : 0));
}

function judgedOf({ trajectory, question, grades }: Found): JudgedTrajectory {
  const { id, taskId, isCorrect, turns } = trajectory;
  return {
    id,
    taskId,
    question,
    isCorrect,
    toolCalls: turns.filter(({ action }) => isToolUse(action)).length,
    evidence: grades.map((grade) => (grade === undefined ? undefined : grade === 1)),
  };
}

function describeMissing(
  name: string,
  missing: {
    readonly search: number;
    readonly box: number;
    readonly pixels: number;
    readonly judge: readonly string[];
  },
): readonly string[] {
  const { search, box, pixels, judge } = missing;
  const [failure] = judge;
  return [
    ...(search > 0 ? [`${name}: ${search} trajectories are of tasks that need no search.`] : []),
    ...(box > 0
      ? [`${name}: ${box} trajectories are of tasks without a known box. Ask a judge: --judge.`]
      : []),
    ...(pixels > 0 ? [`${name}: ${pixels} trajectories have lost images of tools.`] : []),
    ...(failure === undefined
      ? []
      : [`${name}: the judge failed on ${judge.length} trajectories: ${failure}`]),
  ];
}
