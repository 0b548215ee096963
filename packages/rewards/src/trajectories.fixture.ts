/** Trajectories for tests: turns of code with how they ended, and an answer. */
import { type ToolResult, type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';

export const ran: ToolResult = { kind: 'ok', stdout: '', stderr: '', imageCount: 1, wallMs: 1 };
export const raised: ToolResult = { ...ran, kind: 'exception', errorType: 'ValueError' };

export interface Step {
  readonly code: string;
  readonly result?: ToolResult;
  /** The model's text; by default a thought and the code between tags. */
  readonly text?: string;
}

export interface Made {
  readonly id?: string;
  readonly answer?: string;
  readonly answerText?: string;
  /** Tokens of every turn. */
  readonly tokensPerTurn?: number;
}

/** A trajectory on an image of 640 × 400. */
export function trajectoryOf(steps: readonly Step[], made: Made = {}): Trajectory {
  const { id = 't/0', answer = '7', tokensPerTurn = 1 } = made;
  const builder = new TrajectoryBuilder({ id, taskId: 't', sampleIndex: Number(id.slice(2)) });
  const image = {
    name: 'image_clue_0',
    png: new Uint8Array(0),
    width: 640,
    height: 400,
    modelWidth: 56,
    modelHeight: 28,
    tokenCount: 1,
  };
  builder.prompt({ tokens: Int32Array.of(1), images: [image], text: 'which digit' });
  const speak = (text: string): void => {
    const tokens = new Int32Array(tokensPerTurn).fill(2);
    const logprobs = new Float32Array(tokensPerTurn).fill(-1);
    builder.model({ tokens, logprobs, text, policyVersion: 0 });
  };
  for (const { code, result = ran, text } of steps) {
    speak(text ?? `<think>look</think><code>${code}</code>`);
    builder.turn({ kind: 'code', code }, result);
    builder.observation({ tokens: Int32Array.of(3), images: [], text: 'seen' });
  }
  speak(made.answerText ?? `<think>so</think><answer>${answer}</answer>`);
  builder.turn({ kind: 'answer', answer });
  return builder.finish('answered');
}
