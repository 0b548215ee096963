/** Attacks by hostile clients on the reward service: it answers, and it ends. */
import { drainUnderHalfSentBodies, fuzzService } from '@saccade/http/contract';
import { expect, it } from 'vitest';
import { openRewardService } from './reward-service.ts';
import { openScoreAnswer } from './score-answer.ts';

const paths = ['/score', '/openrlhf', '/slime'];
const maxBytes = 300_000;

const open = () =>
  openRewardService({
    ...{ score: openScoreAnswer({ verifier: 'math' }), about: { verifier: 'math' }, maxBytes },
  });

it('answers malformed requests with 2xx or 4xx, and health meanwhile', async () => {
  const service = await open();
  const { problems } = await fuzzService({ ...service, paths, maxBytes }, { requests: 300 });
  await service.drain(1);
  expect(problems).toEqual([]);
}, 120_000);

it('ends within its grace whatever connections hold', async () => {
  const service = await open();
  await drainUnderHalfSentBodies({ ...service, paths, maxBytes });
});

it('needs a token beyond the loopback, and none where anyone may ask', async () => {
  const score = openScoreAnswer({ verifier: 'math' });
  const options = { score, about: {}, host: '0.0.0.0' };
  await expect(openRewardService(options)).rejects.toMatchObject({ code: 'config' });
  const service = await openRewardService({ ...options, allowsAnyone: true });
  await service.drain(0);
});
