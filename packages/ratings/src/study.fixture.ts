/** A study for tests: two models on needle tasks, with real images and scripted trajectories. */
import { TrajectoryBuilder } from '@saccade/trajectory';
import type { ShownTrajectory } from './rating-page.ts';
import type { RatedTrajectory } from './study.ts';

/** One pixel, as PNG. */
const png = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC',
    'base64',
  ),
);

/** `small` and `large` on the given number of tasks. */
export function ratedOf(tasks: number, models: readonly string[]): readonly RatedTrajectory[] {
  return Array.from({ length: tasks }, (_, index) => `task-${index}`).flatMap((taskId) =>
    models.map((model) => ({ model, taskId, trajectoryId: `${model}/${taskId}` })),
  );
}

/** A trajectory that looks once and answers, with whatever text. */
export function shownOf(
  model: string,
  taskId: string,
  text = 'I look.',
  answer = '7',
): ShownTrajectory {
  const builder = new TrajectoryBuilder({ id: `${model}/${taskId}`, taskId, sampleIndex: 0 });
  const image = { name: 'image_clue_0', png, width: 64, height: 48 };
  const shown = { ...image, modelWidth: 28, modelHeight: 28, tokenCount: 1 };
  builder.prompt({ tokens: Int32Array.of(1), images: [shown], text });
  const write = (said: string): void =>
    builder.model({
      tokens: Int32Array.of(2),
      logprobs: Float32Array.of(-1),
      text: said,
      policyVersion: 0,
    });
  write(`${text}<code>look()</code>`);
  const result = { kind: 'ok', stdout: text, stderr: '', imageCount: 1, wallMs: 1 } as const;
  builder.turn({ kind: 'code', code: text }, result);
  const crop = { ...shown, name: 'image_clue_1', width: 9, height: 9 };
  builder.observation({ tokens: Int32Array.of(3), images: [crop], text: 'seen' });
  write(`${text}<answer>${answer}</answer>`);
  builder.turn({ kind: 'answer', answer });
  return { question: `Which digit is on ${taskId}?`, trajectory: builder.finish('answered') };
}
