/** Short trajectories with errors of tool use; the right answer is 7. */
import { exact, makeContext, type RewardContext } from '@saccade/rewards';
import {
  type Action,
  type ScoredTrajectory,
  type ToolResult,
  TrajectoryBuilder,
} from '@saccade/trajectory';

/** As runs have it. */
export const options = { shownShare: 0.5 };

export type Metadata = Readonly<Record<string, unknown>>;
export type Step = readonly [Action, Partial<ToolResult>?];

/** A card at 10, 20 of 100 × 100 pixels; a crop is all it takes. */
export const upright: Metadata = { requiredTools: ['crop'], box: [10, 20, 30, 40] };

export const call = (name: string, given: Metadata = {}): Action => ({
  kind: 'toolCall',
  name,
  arguments: given,
});
export const code = (text: string): Action => ({ kind: 'code', code: text });
export const crop = (box: string): Step => [code(`image_clue_0.crop((${box})).show()\n`)];
export const refused = (errorType: string, errorMessage = ''): Partial<ToolResult> => ({
  kind: 'exception',
  errorType,
  errorMessage,
  imageCount: 0,
});

export function scored(steps: readonly Step[], answer = '3', id = 'a0'): ScoredTrajectory {
  const builder = new TrajectoryBuilder({ id, taskId: 'a', sampleIndex: 0 });
  const image = { name: 'image_clue_0', png: new Uint8Array(), width: 100, height: 100 };
  const shown = { ...image, modelWidth: 28, modelHeight: 28, tokenCount: 1 };
  builder.prompt({ tokens: Int32Array.of(1), images: [shown], text: '?' });
  const speak = (): void =>
    builder.model({
      tokens: Int32Array.of(2),
      logprobs: Float32Array.of(-1),
      text: '',
      policyVersion: 0,
    });
  for (const [action, result] of steps) {
    speak();
    const ran: ToolResult = {
      ...{ kind: 'ok', stdout: '', stderr: '', imageCount: 1, wallMs: 1 },
      ...result,
    };
    builder.turn(action, action.kind === 'invalid' ? undefined : ran);
    builder.observation({ tokens: Int32Array.of(3), images: [], text: 'seen' });
  }
  speak();
  builder.turn({ kind: 'answer', answer });
  const isCorrect = answer === '7';
  return { ...builder.finish('answered'), reward: 0, rewardTerms: {}, isCorrect };
}

export const contextOf = (trajectory: ScoredTrajectory, metadata: Metadata): RewardContext =>
  makeContext(trajectory, { answer: '7', metadata }, { verifier: exact });
