/** A run directory as a training run leaves it: real needle images, scripted trajectories. */
import { join } from 'node:path';
import { importOptional } from '@saccade/core';
import { type Box, type NeedleFacts, needle, type Task } from '@saccade/gym';
import {
  type MetricsRow,
  openMetricsLog,
  recordAttempt,
  type WrittenTrajectory,
  writeConfig,
  writeTrajectorySet,
} from '@saccade/run-store';
import {
  countToolCalls,
  type ScoredTrajectory,
  type ToolResult,
  TrajectoryBuilder,
  type TrajectoryImage,
} from '@saccade/trajectory';

/**
 * The size of a synthetic run. It holds real images and scripted trajectories, so that pages over
 * runs can be built and tested without training.
 */
export interface SyntheticRun {
  /** Held-out tasks kept in each evaluation. */
  readonly tasks: number;
  readonly sftUpdates: number;
  readonly rlSteps: number;
  /** Whether the run came to its final evaluation. */
  readonly isFinished: boolean;
  /** Text the model writes before its first code. */
  readonly thought?: string;
}

/**
 * Writes a run directory as training would leave it: configuration, metrics, and evaluations with
 * trajectories and images. Every number in it follows from `run`, so the same arguments give the
 * same report.
 */
export async function writeSyntheticRun(directory: string, run: SyntheticRun): Promise<void> {
  const log = openMetricsLog(join(directory, 'metrics.jsonl'));
  for (const row of metricsOf(run)) log.append(row);
  log.close();
  writeConfig(directory, {
    recipe: 'pyvision-image-nano',
    seed: 1,
    backend: 'native',
    policy: 'nano',
    taskSet: 'needle',
    sft: { epochs: 4, learningRate: 0.001 },
    rl: { steps: run.rlSteps, algorithm: 'pyvision-rl', groupSize: 8 },
  });
  const facts = {
    node: 'v20.20.2',
    machine: '2 cores, 8 GB',
    sandboxTier: 'bubblewrap',
    versions: { saccade: '0.1.0' },
  };
  recordAttempt(directory, facts, 0);
  await writeEvaluation(directory, 'sft', run, (index) => weakScripts[index % 5] ?? guess);
  if (!run.isFinished) return;
  await writeEvaluation(directory, 'final', run, (index) => (index % 7 === 6 ? stray : lookWell));
}

function metricsOf({ sftUpdates, rlSteps, isFinished }: SyntheticRun): readonly MetricsRow[] {
  const wobble = (step: number, phase: number): number => Math.sin(step * 2.3 + phase) ** 3;
  const evaluate = (label: string, step: number, accuracy: number): MetricsRow => ({
    stage: 'evaluation',
    step: sftUpdates + step,
    label,
    'eval/accuracy': accuracy,
    'eval/count': 200,
    'eval/tool_calls/mean': 0.9 + 0.01 * step,
    'eval/turns/mean': 1.9 + 0.01 * step,
    'eval/step_of_rl': step,
  });
  const sft = Array.from({ length: sftUpdates }, (_, index): MetricsRow => {
    const step = index + 1;
    return {
      stage: 'sft',
      step,
      loss: 0.3 + 3 * Math.exp(-step / 40) + 0.06 * wobble(step, 1),
      grad_norm: 0.4 + 2 * Math.exp(-step / 30) + 0.2 * wobble(step, 2),
      learning_rate: 1e-3,
    };
  });
  const rl = Array.from({ length: rlSteps }, (_, index): MetricsRow => {
    const step = index + 1;
    const skill = 1 / (1 + Math.exp(-(step - 20) / 7));
    return {
      stage: 'rl',
      step: sftUpdates + step,
      accuracy: 0.5 + 0.42 * skill + 0.05 * wobble(step, 0),
      reward: 0.6 + 0.52 * skill + 0.07 * wobble(step, 3),
      'tool_calls/mean': 0.95 + 0.5 * skill + 0.08 * wobble(step, 4),
      entropy: 0.42 - 0.3 * skill + 0.03 * wobble(step, 5),
      grad_norm: 0.35 + 0.12 * wobble(step, 6),
      step_time: 7.5,
    };
  });
  const evaluations = rlSteps >= 20 ? [evaluate('step-20', 20, 0.735)] : [];
  return [
    ...sft,
    evaluate('sft', 0, 0.58),
    ...rl.slice(0, 20),
    ...evaluations,
    ...rl.slice(20),
    ...(isFinished ? [evaluate('final', rlSteps, 0.925)] : []),
  ];
}

/** The scripted policy's behavior in one task. */
export interface Script {
  readonly looksAt: (facts: NeedleFacts) => readonly Box[];
  readonly answers: (expected: string) => string | undefined;
}

const other = (digit: string): string => String((Number(digit) + 3) % 10);
/** Looks at the card that is asked about and answers right. */
export const lookWell: Script = { looksAt: ({ box }) => [box], answers: (digit) => digit };
/** Answers wrong without a look. */
export const guess: Script = { looksAt: () => [], answers: other };
/** Looks at a decoy, where there is one, and answers wrong. */
export const stray: Script = { looksAt: ({ decoys }) => decoys.slice(0, 1), answers: other };
/** Looks at a decoy first, then at the card, and answers right. */
export const corrected: Script = {
  looksAt: ({ box, decoys }) => [...decoys.slice(0, 1), box],
  answers: (digit) => digit,
};
const silent: Script = { looksAt: ({ decoys }) => decoys.slice(0, 2), answers: () => undefined };
const weakScripts: readonly Script[] = [stray, guess, corrected, lookWell, silent];

async function writeEvaluation(
  directory: string,
  label: string,
  run: SyntheticRun,
  scriptOf: (index: number) => Script,
): Promise<void> {
  const set: WrittenTrajectory[] = [];
  for (let index = 0; index < run.tasks; index++) {
    const task = await needle.task('heldOut', index);
    const { box } = task.metadata as unknown as NeedleFacts;
    const trajectory = await play(task, scriptOf(index), run.thought ?? '');
    const tags = { question: task.question, answer: task.answer, box: box.join(',') };
    set.push({ trajectory, tags });
  }
  writeTrajectorySet(directory, `evaluation-${label}`, set);
}

/** Plays a script on a task, with real crops. */
export async function play(
  task: Task,
  script: Script,
  thought: string,
  sampleIndex = 0,
): Promise<ScoredTrajectory> {
  const id = `${task.id}#${sampleIndex}`;
  const builder = new TrajectoryBuilder({ id, taskId: task.id, sampleIndex });
  const write = (text: string): void =>
    builder.model({
      tokens: Int32Array.from([1]),
      logprobs: Float32Array.from([-0.1]),
      text,
      policyVersion: 0,
    });
  const originals = task.images.map(
    (image): TrajectoryImage => ({ ...image, modelWidth: 112, modelHeight: 112, tokenCount: 16 }),
  );
  builder.prompt({ tokens: new Int32Array(40), images: originals, text: task.question });
  const boxes = script.looksAt(task.metadata as unknown as NeedleFacts);
  for (const [index, box] of boxes.entries()) {
    const code = `image_clue_0.crop((${box.join(',')})).show()`;
    write(`${thought}<code>\n\`\`\`python\n${code}\n\`\`\`\n</code>`);
    builder.turn({ kind: 'code', code }, shown);
    const images = [await crop(task, box, `image_clue_${index + 1}`)];
    builder.observation({ tokens: new Int32Array(8), images, text: '<interpreter>' });
  }
  const answer = script.answers(task.answer);
  if (answer === undefined) {
    write('<answer>\\boxed{');
    builder.turn({ kind: 'invalid', reason: 'noCodeNorAnswer' });
  } else {
    write(`<answer>\n\\boxed{${answer}}\n</answer>`);
    builder.turn({ kind: 'answer', answer: `\\boxed{${answer}}` });
  }
  const trajectory = builder.finish(answer === undefined ? 'invalidAction' : 'answered');
  const isCorrect = answer === task.answer;
  const bonus = isCorrect ? 0.1 * countToolCalls(trajectory) : 0;
  const rewardTerms = { accuracy: isCorrect ? 1 : 0, accumulative_tool: bonus };
  return { ...trajectory, reward: rewardTerms.accuracy + bonus, rewardTerms, isCorrect };
}

const shown: ToolResult = { kind: 'ok', stdout: '', stderr: '', imageCount: 1, wallMs: 12 };

async function crop(task: Task, box: Box, name: string): Promise<TrajectoryImage> {
  const [left, top, right, bottom] = box;
  const [width, height] = [right - left, bottom - top];
  const { default: sharp } = await importOptional(
    'sharp@0.35',
    'Cropping an image',
    () => import('sharp'),
  );
  const png = await sharp(task.images[0]?.png)
    .extract({ left, top, width, height })
    .png()
    .toBuffer();
  return {
    name,
    png: new Uint8Array(png),
    width,
    height,
    modelWidth: width,
    modelHeight: height,
    tokenCount: 4,
    origin: { image: 'image_clue_0', map: [1, 0, left, 0, 1, top] },
  };
}
