/** Measures real servers of others by what they answered once; only paths of models were shortened. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openTinkerClient } from '../client/tinker-client.ts';
import { parseRecording } from '../recorded/recording.ts';
import { replayServer } from '../recorded/replay.ts';
import { processor } from '../tiny-learner.fixture.ts';
import { measureServer } from './measure-server.ts';

function recorded(name: string) {
  const file = new URL(`../../recordings/${name}.jsonl`, import.meta.url);
  return parseRecording(name, readFileSync(file, 'utf8'));
}

it('classifies SkyRL’s JAX backend from its recording as it classified the server', async () => {
  const recording = recorded('skyrl-jax');
  expect(recording.label).toMatchObject({ server: 'SkyRL, its JAX backend on CPU' });
  const replay = replayServer(recording);
  const client = await openTinkerClient({ baseUrl: replay.url, fetch: replay.fetch });
  const [baseModel = ''] = client.capabilities.models;
  const request = { baseModel, lora: { rank: 4 } };
  const measured = await measureServer(client, { request, processor, images: false });
  client.dispose();
  replay.expectFinished();
  expect(measured).toMatchObject({
    verdict: 'linearized',
    path: {
      loss: 'importance_sampling',
      perDatum: true,
      perStep: true,
      perToken: true,
      scale: 1,
    },
    ignoredFields: ['grad_clip_norm'],
    areModelsApart: false,
  });
  // What it divides by is known, so nothing is left of the size of its gradients.
  expect(measured.findings.filter(({ name }) => name === 'size')).toMatchObject([{ isGood: true }]);
});
