/** A sampler that plays a script instead of a model: its turns run in the real environment. */
import { DataError } from '@saccade/core';
import type { Processor, SampleRequest, SampleResult, Sampler } from '@saccade/policy';

/** One turn that a demonstrator plays in place of the model. */
export interface ScriptedTurn {
  readonly text: string;
  /** Whether the turn ends by itself; else the protocol's stop string ended it. */
  readonly ends: boolean;
}

/** Plays for each conversation the turns that `script` gives. Log-probs of a script are zero. */
export function createDemonstrator(
  processor: Processor,
  script: (conversation: string) => readonly ScriptedTurn[],
): Sampler {
  const played = new Map<string, number>();
  return {
    version: 0,
    processor,
    async sample({ conversation }: SampleRequest): Promise<SampleResult> {
      const index = played.get(conversation) ?? 0;
      const turn = script(conversation)[index];
      if (turn === undefined) {
        throw new DataError(`The script of ${conversation} is over after ${index} turns.`);
      }
      played.set(conversation, index + 1);
      const tokens = processor.encodeModelText(turn.text, turn.ends);
      return {
        tokens,
        logprobs: new Float32Array(tokens.length),
        text: turn.text,
        finish: turn.ends ? 'endOfTurn' : 'stop',
        policyVersion: 0,
      };
    },
    release(conversation: string): void {
      played.delete(conversation);
    },
  };
}
