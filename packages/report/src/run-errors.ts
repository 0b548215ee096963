/** The errors of tool use in a run: by stage, with the trajectories that made them. */
import { DataError, messageOf } from '@saccade/core';
import {
  decide,
  type ErrorTag,
  type TaggingOptions,
  tagErrors,
  type WrongTrajectory,
} from '@saccade/eval';
import {
  type Ask,
  type ContextOptions,
  type ErrorInput,
  exact,
  makeContext,
} from '@saccade/rewards';
import {
  describeDamage,
  type KeptTrajectory,
  listTrajectorySets,
  readMetrics,
  readTrajectorySet,
} from '@saccade/run-store';
import type { ScoredTrajectory } from '@saccade/trajectory';
import {
  type ErrorStage,
  stagesOfMetrics,
  stagesOfTagged,
  type TaggedSet,
} from './error-stages.ts';
import { readStoredRun, type StoredGroup, type StoredSet } from './stored-run.ts';

/** What the stages of a run are counted from. */
export type ErrorSource = 'metrics' | 'trajectories';

/** How the errors of a run are read. */
export interface RunErrorsOptions extends TaggingOptions {
  /** Default: metrics where they have errors, else the trajectories that are kept. */
  readonly from?: ErrorSource;
  /** Into how many windows the steps are divided. Default 4. */
  readonly windows?: number;
  /** How the run's code was followed. */
  readonly analysis?: ContextOptions['analysis'];
  /** Asked of what no rule decides; the stages then come from trajectories. */
  readonly ask?: Ask<ErrorInput>;
}

/** A wrong answer that a run keeps, with its errors. */
export interface ErrorExample extends WrongTrajectory {
  /** File of `<run>/trajectories` without `.jsonl`. */
  readonly set: string;
  readonly question: string;
  /** The right answer. */
  readonly expected: string;
}

/** The result of `readRunErrors`. */
export interface RunErrors {
  readonly directory: string;
  readonly source: ErrorSource;
  readonly stages: readonly ErrorStage[];
  /** Wrong answers that the run keeps, in the order of training; empty if it keeps none. */
  readonly examples: readonly ErrorExample[];
  /** One sentence for each thing that could not be used. */
  readonly gaps: readonly string[];
}

const DEFAULT_WINDOWS = 4;

/**
 * The errors of a run's wrong answers by stage.
 *
 * @throws DataError if there is no run, or it has neither errors in its metrics nor trajectories
 */
export async function readRunErrors(
  directory: string,
  options: RunErrorsOptions,
): Promise<RunErrors> {
  const { from, windows = DEFAULT_WINDOWS, ask } = options;
  const kept = listTrajectorySets(directory).value.length > 0;
  const { value, damage } = readMetrics(directory);
  const logged = stagesOfMetrics(value.rows, windows);
  const source = from ?? (ask === undefined && logged.length > 0 ? 'metrics' : 'trajectories');
  if (source === 'metrics') {
    if (logged.length === 0) {
      throw new DataError(
        `${directory} has no metrics errors/E1 to errors/E6. Count the trajectories that it keeps, ` +
          'or give a run directory of this version.',
      );
    }
    const found = kept ? await readTagged(directory, options).catch(asGap) : asGap();
    const gaps = [...damage.map(describeDamage), ...found.gaps];
    return { directory, source, stages: logged, examples: examplesOf(found.sets), gaps };
  }
  const { sets, gaps } = await readTagged(directory, options);
  const stages = stagesOfTagged(sets, windows);
  return { directory, source, stages, examples: examplesOf(sets), gaps };
}

/** Trajectories that cannot be read take nothing from the metrics. */
function asGap(error?: unknown): Awaited<ReturnType<typeof readTagged>> {
  if (error !== undefined && !(error instanceof DataError)) throw error;
  return { sets: [], gaps: error === undefined ? [] : [error.message] };
}

interface ExampleSet extends TaggedSet {
  readonly wrong: readonly ErrorExample[];
}

/** In the order of training; what is evaluated at the end comes last. */
function examplesOf(sets: readonly ExampleSet[]): readonly ErrorExample[] {
  const rank = ({ place: { label, step } }: ExampleSet): number =>
    label === 'final' ? Number.MAX_SAFE_INTEGER : step;
  return [...sets].sort((a, b) => rank(a) - rank(b)).flatMap(({ wrong }) => wrong);
}

async function readTagged(
  directory: string,
  options: RunErrorsOptions,
): Promise<{ readonly sets: readonly ExampleSet[]; readonly gaps: readonly string[] }> {
  const stored = await readStoredRun(directory, 'all');
  const problems: string[] = [];
  const last = Math.max(0, ...stored.sets.map(({ step = 0 }) => step));
  const tagged = stored.sets.map((set) => tagSet(set, last, options, problems));
  const failures: string[] = [];
  const sets = await Promise.all(
    tagged.map((set) => judgeSet(directory, set, options.ask, failures)),
  );
  const [failure] = failures;
  const [problem] = problems;
  return {
    sets,
    gaps: [
      ...stored.gaps,
      ...(problem === undefined
        ? []
        : [`${problems.length} wrong answers could not be tagged: ${problem}`]),
      ...(failure === undefined
        ? []
        : [`The judge decided nothing of ${failures.length} wrong answers: ${failure}`]),
    ],
  };
}

function tagSet(
  { name, step, groups }: StoredSet,
  last: number,
  options: RunErrorsOptions,
  problems: string[],
): ExampleSet {
  const wrong = groups.flatMap((group) =>
    group.trajectories
      .filter(({ isCorrect }) => !isCorrect)
      .map((trajectory): ErrorExample => {
        const { question, task } = group;
        const tags = tagsOf(trajectory, group, options, problems);
        return { set: name, question, expected: task.answer, trajectory, tags };
      }),
  );
  const count = groups.reduce((total, { trajectories }) => total + trajectories.length, 0);
  const label = name.replace(/^evaluation-/, '');
  const evaluated = /^step-(\d+)$/.exec(label)?.[1];
  const place =
    step === undefined
      ? { label, step: label === 'sft' ? 0 : Number(evaluated ?? last) }
      : { step };
  return { place, count, wrong };
}

function tagsOf(
  trajectory: ScoredTrajectory,
  { task }: StoredGroup,
  { shownShare, analysis }: RunErrorsOptions,
  problems: string[],
): readonly ErrorTag[] {
  // Its verdict stands: nothing is judged again.
  const context = makeContext(
    trajectory,
    task,
    { verifier: exact, ...(analysis && { analysis }) },
    { verdict: { isCorrect: false, score: 0 } },
  );
  try {
    return tagErrors(trajectory, context, { shownShare });
  } catch (error) {
    problems.push(messageOf(error));
    return [];
  }
}

/** Asks the judge with the images that the run keeps. */
async function judgeSet(
  directory: string,
  set: ExampleSet,
  ask: Ask<ErrorInput> | undefined,
  failures: string[],
): Promise<ExampleSet> {
  const [first] = set.wrong;
  if (ask === undefined || first === undefined) return set;
  const lines = readTrajectorySet(directory, first.set).value;
  const byId = new Map(lines.map((line) => [line.trajectory.id, line]));
  const wrong = await Promise.all(
    set.wrong.map(async (example): Promise<ErrorExample> => {
      const { question, expected: answer } = example;
      const seen = await withPixels(example.trajectory, byId.get(example.trajectory.id));
      const { failure, tags, isJudged } = await decide(
        { trajectory: seen, tags: example.tags },
        { question, answer },
        ask,
      );
      if (failure !== undefined) failures.push(failure);
      return { ...example, tags, ...(isJudged && { isJudged }) };
    }),
  );
  return { ...set, wrong };
}

async function withPixels(
  trajectory: ScoredTrajectory,
  line: KeptTrajectory | undefined,
): Promise<ScoredTrajectory> {
  if (line === undefined) return trajectory;
  const { segments } = (await line.load()).value;
  return { ...trajectory, segments };
}
