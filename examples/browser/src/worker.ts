/** Trains in a worker, so that the page stays responsive; the page ends it by terminating it. */
import { webgpuBackend } from '@saccade/backend-webgpu';
import { ConfigError, MissingError, messageOf, SaccadeError } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';
import type { Reply, Request, StartRequest } from './page/messages.ts';
import { PauseGate } from './training/pause-gate.ts';
import { presets, withLength } from './training/presets.ts';
import { train } from './training/train.ts';

/** Where the weights are that come with the page. */
const COLD_STARTS: Readonly<Record<string, URL>> = {
  small: new URL('./cold-starts/small.safetensors', import.meta.url),
  tiny: new URL('./cold-starts/tiny.safetensors', import.meta.url),
};

const gate = new PauseGate();

function reply(message: Reply): void {
  postMessage(message);
}

addEventListener('message', ({ data }: MessageEvent<Request>) => {
  if (data.kind === 'pause') gate.shut();
  else if (data.kind === 'resume') gate.open();
  else void run(data);
});

/** @throws MissingError if the page's server does not have them */
async function fetchWeights(preset: string): Promise<ArrayBuffer> {
  const address = COLD_STARTS[preset];
  const response = address && (await fetch(address));
  if (response?.ok) return await response.arrayBuffer();
  throw new MissingError(
    `The weights of the cold start of "${preset}" could not be loaded. Copy the whole folder of the ` +
      'page to its server, or start from random weights.',
  );
}

async function run(request: StartRequest): Promise<void> {
  let device: Device | undefined;
  try {
    const { algorithm, hasToolBonus, seed, updates, steps, isWarm } = request;
    const preset = presets.find(({ name }) => name === request.preset);
    if (preset === undefined) {
      const known = presets.map(({ name }) => name).join(', ');
      throw new ConfigError('preset', `There is no "${request.preset}". Known: ${known}.`);
    }
    const backend = await webgpuBackend({ powerPreference: 'high-performance' });
    device = openDevice(backend);
    const weights = isWarm ? await fetchWeights(preset.name) : undefined;
    const settings = { preset: withLength(preset, updates, steps), algorithm, hasToolBonus, seed };
    await train(device, settings, {
      onEvent: reply,
      onPolicy: ({ parameterCount }) =>
        reply({ kind: 'started', device: backend.description, parameters: parameterCount }),
      pass: () => gate.pass(),
      ...(weights && { weights }),
    });
    reply({ kind: 'finished' });
  } catch (error) {
    const code = error instanceof SaccadeError ? error.code : 'unknown';
    reply({ kind: 'failed', fault: { code, message: messageOf(error) } });
  } finally {
    device?.dispose();
  }
}
