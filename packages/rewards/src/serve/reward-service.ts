/**
 * Rewards over HTTP, in the formats of other trainers: OpenRLHF's remote reward model, slime's
 * `remote_rm`, and a plain batch that TRL and verl reach with a few lines (`examples/rewards`).
 */
import { ConfigError, messageOf } from '@saccade/core';
import {
  badRequest,
  bodyOf,
  callOf,
  type ListenOptions,
  newServiceApp,
  openService,
  Refusal,
  type RefusalWording,
  type Service,
} from '@saccade/http/service';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { ScoreAnswer, Scored } from './score-answer.ts';

export interface ServiceOptions {
  readonly score: ScoreAnswer;
  /** The facts about scoring that `/health` reports. */
  readonly about: Readonly<Record<string, string>>;
  /** Larger requests are refused. Default 32 MiB. */
  readonly maxBytes?: number;
}

const texts = z.array(z.string()).min(1);

const openRlhfRequest = z
  .object({ query: texts, prompts: texts, labels: texts })
  .refine(
    ({ query, prompts, labels }) =>
      new Set([query, prompts, labels].map((l) => l.length)).size === 1,
    {
      message: 'query, prompts and labels must have one length',
    },
  );

const slimeRequest = z.object({
  prompt: z.unknown().optional(),
  response: z.string(),
  label: z.union([z.string(), z.number()]),
});

const batchRequest = z.object({
  items: z
    .array(
      z.object({
        response: z.string(),
        expected: z.union([z.string(), z.number()]).transform(String),
        question: z.string().optional(),
        verifier: z.string().optional(),
        options: z.array(z.string()).min(1).max(26).optional(),
      }),
    )
    .min(1),
});

const routes = 'GET /health, GET /metrics, POST /score, POST /openrlhf, POST /slime';

const wording: RefusalWording = ({ fact, remedy }) => ({ error: { fact, remedy } });

/** Listens and returns when it does. */
export async function openRewardService(options: ServiceOptions & ListenOptions): Promise<Service> {
  const app = rewardService(options);
  return await openService({ ...options, name: 'rewards', app, wording });
}

/**
 * The service as a handler of web requests.
 *
 * A response that cannot be scored is not a zero: in a batch its reward is null and its error a
 * sentence; OpenRLHF and slime, which expect a number, get status 503 and try again.
 */
export function rewardService({ score, about, maxBytes = 32 * 2 ** 20 }: ServiceOptions): Hono {
  const started = Date.now();
  const counts = { scored: 0, failed: 0 };
  const app = newServiceApp({ routes, wording, bodies: { maxBytes } });

  const scoreOne = async (item: Scored): Promise<{ reward: number } | { error: string }> => {
    try {
      const reward = await score(item);
      counts.scored++;
      return { reward };
    } catch (error) {
      if (error instanceof ConfigError) throw badRequest(error.message);
      counts.failed++;
      return { error: messageOf(error) };
    }
  };
  const scoreOrRefuse = async (item: Scored): Promise<number> => {
    const result = await scoreOne(item);
    if ('reward' in result) return result.reward;
    const fact = `This response could not be scored: ${result.error}`;
    throw new Refusal({ status: 503, code: 'unscored', fact, remedy: 'Try again.' });
  };

  app.get('/health', (context) => {
    const { isDraining, isTrusted } = callOf(context);
    const status = isDraining() ? 'draining' : 'healthy';
    const code = isDraining() ? 503 : 200;
    if (!isTrusted) return context.json({ status }, code);
    const uptimeSeconds = Math.round((Date.now() - started) / 1000);
    return context.json({ status, ...about, ...counts, uptimeSeconds }, code);
  });
  app.post('/score', async (context) => {
    const { items } = await bodyOf(context, batchRequest);
    const results = await Promise.all(items.map((item) => scoreOne(item as Scored)));
    return context.json({
      rewards: results.map((one) => ('reward' in one ? one.reward : null)),
      errors: results.map((one) => ('error' in one ? one.error : null)),
    });
  });
  app.post('/openrlhf', async (context) => {
    const { query, prompts, labels } = await bodyOf(context, openRlhfRequest);
    const rewards = await Promise.all(
      query.map((text, index) => {
        const prompt = prompts[index] ?? '';
        const response = text.startsWith(prompt) ? text.slice(prompt.length) : text;
        return scoreOrRefuse({ response, question: prompt, expected: labels[index] ?? '' });
      }),
    );
    const isCorrect = rewards.map((reward) => (reward >= 0.5 ? 1 : 0));
    return context.json({ rewards, scores: rewards, extra_logs: { accuracy: isCorrect } });
  });
  app.post('/slime', async (context) => {
    const { prompt, response, label } = await bodyOf(context, slimeRequest);
    const question = typeof prompt === 'string' ? prompt : JSON.stringify(prompt ?? '');
    return context.json(await scoreOrRefuse({ response, question, expected: String(label) }));
  });
  return app;
}
