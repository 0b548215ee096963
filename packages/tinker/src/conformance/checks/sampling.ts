/** Sampling: the log-probs of samples are those of scoring, within a bound that is reported. */
import type { ModelImage } from '@saccade/policy';
import { imageBatch, scoreBatch } from '../../measure/images.ts';
import { probeRow } from '../../measure/probe.ts';
import { RemoteSampler } from '../../remote/remote-sampler.ts';
import {
  type ConformanceCheck,
  type ConformanceContext,
  expectAtMost,
  expectThat,
  largestDifference,
} from '../conformance-check.ts';

async function promptOf({ processor, vocabulary }: ConformanceContext): Promise<{
  readonly tokens: Int32Array;
  readonly images: readonly ModelImage[];
}> {
  if (processor.imageToken === undefined) {
    return { tokens: probeRow(5, 12, vocabulary).tokens, images: [] };
  }
  const [prompt] = (await imageBatch(processor, 5)).batch.segments;
  return prompt ?? { tokens: new Int32Array(), images: [] };
}

export const sampledIsScored: ConformanceCheck = {
  number: 16,
  name: 'log-probs of samples are those of scoring',
  needs: ['sampling'],
  async run(context) {
    const { withModel, client, processor, bounds } = context;
    return await withModel(async (model) => {
      const prompt = await promptOf(context);
      const sampler = new RemoteSampler(processor);
      const { tokens, logprobs } = await sampler.sample(
        { client, model, version: 0 },
        {
          ...prompt,
          maxTokens: 8,
          stop: [],
          temperature: 1,
          seed: [3, 4],
          conversation: 'conformance',
        },
      );
      expectThat('Tokens', tokens.length > 0);
      const whole = Int32Array.from([...prompt.tokens, ...tokens]);
      const first = prompt.tokens.length - 1;
      const batch = {
        segments: [{ tokens: whole, images: prompt.images, parent: -1 }],
        rows: Int32Array.from(tokens, (_, i) => first + i),
        targets: tokens,
      };
      const scored = await scoreBatch(model, processor, batch, client.isOurs);
      const nats = largestDifference(logprobs, scored);
      return expectAtMost(`${tokens.length} log-probs differ by`, nats, bounds.sampling);
    });
  },
};
