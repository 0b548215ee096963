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
import {
  describeDamage,
  isEvaluation,
  readEvaluation,
  readTrajectorySet,
} from '@saccade/run-store';
import type { Kappa } from '@saccade/statistics';
import { isToolUse, type ScoredTrajectory } from '@saccade/trajectory';
import { readStoredRun, type StoredSet } from './stored-run.ts';

/** How the images of tools are judged. */
export interface FaithfulnessOptions {
  /**
   * Names of a run's files without `.jsonl` (default: all evaluations, without any all steps), or of an
   * evaluation's suites (default: all).
   */
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
  /** `evaluation-final`, `step-000010`; of an evaluation the suite. */
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
  const { sets: chosen, gaps: found } = isEvaluation(directory)
    ? setsOfEvaluation(directory, options.only)
    : await setsOfRun(directory, options.only);
  const gaps = [...found];
  const sets: SetFaithfulness[] = [];
  for (const set of chosen) sets.push(await judgeSet(set, options, gaps));
  return { directory, by: options.ask === undefined ? 'boxes' : 'judge', sets, gaps };
}

/** Trajectories of one name, and how to load one of them with its images. */
interface JudgedSet extends Pick<StoredSet, 'name' | 'groups'> {
  load(id: string): Promise<ScoredTrajectory['segments'] | undefined>;
}

interface FoundSets {
  readonly sets: readonly JudgedSet[];
  readonly gaps: readonly string[];
}

/** All evaluations that a run keeps; without any, all steps. */
async function setsOfRun(
  directory: string,
  only: readonly string[] | undefined,
): Promise<FoundSets> {
  const { sets, gaps } = await readStoredRun(directory, only ?? 'all');
  const evaluations = sets.filter(({ step }) => step === undefined);
  const chosen = only === undefined && evaluations.length > 0 ? evaluations : sets;
  return {
    gaps,
    sets: chosen.map(({ name, groups }) => {
      const lines = readTrajectorySet(directory, name).value;
      const byId = new Map(lines.map((line) => [line.trajectory.id, line]));
      const load: JudgedSet['load'] = async (id) => (await byId.get(id)?.load())?.value.segments;
      return { name, groups, load };
    }),
  };
}

/** The suites of an evaluation, all samples of each task. */
function setsOfEvaluation(directory: string, only: readonly string[] | undefined): FoundSets {
  const { value: evaluation, damage } = readEvaluation(directory);
  const found = [...damage];
  const names = only ?? evaluation.suites.map(({ name }) => name);
  const sets = names.map((name): JudgedSet => {
    evaluation.suite(name);
    const tasks = evaluation.tasks(name);
    found.push(...tasks.damage);
    const samples = [...evaluation.samples(name, found)];
    const byId = new Map(samples.map((sample) => [sample.trajectory.id, sample]));
    const groups = tasks.value.map(({ id, question, answer, metadata }) => ({
      taskId: id,
      question,
      task: { answer, metadata, question },
      trajectories: samples.flatMap(({ trajectory }) =>
        trajectory.taskId === id ? [trajectory] : [],
      ),
    }));
    return { name, groups, load: async (id) => (await byId.get(id)?.load())?.value.segments };
  });
  return { sets, gaps: found.map(describeDamage) };
}

/** A trajectory with what a judge and the box say of its executions. */
interface Found {
  readonly trajectory: ScoredTrajectory;
  readonly question: string;
  readonly grades: readonly (number | undefined)[];
  readonly pairs: readonly EvidencePair[];
}

async function judgeSet(
  set: JudgedSet,
  options: FaithfulnessOptions,
  gaps: string[],
): Promise<SetFaithfulness> {
  const { ask } = options;
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
        if (ask === undefined) {
          if (boxes === undefined) missing.box++;
          else found.push({ trajectory, question, grades: boxes, pairs: [] });
          return;
        }
        try {
          const seen = await withImages(trajectory, set);
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

/** A trajectory with its images; undefined where one of a tool's is not there. */
async function withImages(
  trajectory: ScoredTrajectory,
  set: JudgedSet,
): Promise<ScoredTrajectory | undefined> {
  const segments = await set.load(trajectory.id);
  const isWhole = segments?.every(
    ({ kind, images }) => kind !== 'observation' || images.every(({ png }) => png.byteLength > 0),
  );
  return segments !== undefined && isWhole === true ? { ...trajectory, segments } : undefined;
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
