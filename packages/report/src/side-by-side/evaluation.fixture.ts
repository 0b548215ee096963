/** An evaluation directory for tests: real needle images, scripted trajectories of known outcome. */
import { type NeedleFacts, needle } from '@saccade/gym';
import {
  type EvaluatedTask,
  openSampleLog,
  taskListDigest,
  writeEvaluationDocument,
  writeTaskList,
} from '@saccade/run-store';
import { corrected, guess, lookWell, play, type Script, stray } from '../synthetic-run.ts';

/** How the scripted model plays. */
export type Plays = (task: number, sample: number) => Script;

/** Looks at the card on all tasks but each seventh, where it strays. */
export const skilled: Plays = (task) => (task % 7 === 6 ? stray : lookWell);
/** Guesses, strays, corrects itself and looks well in turns. */
export const weak: Plays = (task, sample) =>
  [guess, stray, corrected, lookWell][(task + sample) % 4] ?? guess;

/** What is written. */
export interface WrittenEvaluation {
  readonly label: string;
  readonly plays: Plays;
  readonly tasks?: number;
  readonly k?: number;
  readonly step?: number;
  readonly suites?: readonly string[];
  /** Text that the model writes before its code. */
  readonly thought?: string;
  readonly question?: string;
}

/** Writes an evaluation whose every number follows from the scripts. */
export async function writeEvaluation(
  directory: string,
  {
    label,
    plays,
    tasks = 8,
    k = 2,
    step,
    suites = ['needle'],
    thought = '',
    question,
  }: WrittenEvaluation,
): Promise<void> {
  const own = await Promise.all(
    Array.from({ length: tasks }, (_, index) => needle.task('heldOut', index)),
  );
  const list = own.map((task, index): EvaluatedTask => {
    const { decoys } = task.metadata as unknown as NeedleFacts;
    return {
      ...{ index, id: task.id, question: question ?? task.question, answer: task.answer },
      metadata: task.metadata,
      slices: { cards: String(1 + decoys.length) },
      files: {},
    };
  });
  for (const suite of suites) {
    writeTaskList(directory, suite, list);
    const log = openSampleLog(directory, suite, 'scored');
    for (const [index, task] of own.entries()) {
      for (let sample = 0; sample < k; sample++) {
        const played = await play(task, plays(index, sample), thought, sample);
        const reward = played.isCorrect ? 1 : 0;
        log.append({ trajectory: { ...played, reward, rewardTerms: { accuracy: reward } } });
      }
    }
    log.close();
  }
  writeEvaluationDocument(directory, {
    model: {
      kind: 'checkpoint',
      label,
      identity: label,
      source: `/runs/mine/checkpoints/step-${step ?? 0}`,
      ...(step !== undefined && { step }),
    },
    seed: 1,
    suites: suites.map((name) => ({
      name,
      description: 'Find the card with a digit and read it.',
      k,
      sampling: {
        temperature: 1,
        topK: 0,
        topP: 1,
        minP: 0,
        maxTurnTokens: 64,
        maxContextTokens: 512,
      },
      settings: {},
      settingsSha256: 'x',
      tasks: { count: list.length, sha256: taskListDigest(list) },
    })),
  });
}
