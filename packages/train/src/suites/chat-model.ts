/** A model behind a chat API, opened to be evaluated: it plays the protocols of runs. */
import { createHash } from 'node:crypto';
import { ModelImages } from '@saccade/rollout';
import {
  type ChatPlayer,
  type ChatPlayerOptions,
  openChatPlayer,
} from '@saccade/rollout/chat-player';
import type { EvaluatedModel } from '@saccade/run-store';
import { type ResolvedRun, type RunInput, resolveRun } from '../run-config.ts';
import type { Setting } from '../setting.ts';
import { applySettings } from '../settings.ts';

/** A chat model that is open, with how much it has used. */
export interface OpenChatModel {
  readonly identity: EvaluatedModel;
  readonly run: ResolvedRun;
  readonly sampler: ChatPlayer;
  readonly images: ModelImages;
  dispose(): Promise<void>;
}

/**
 * What a chat model plays with where neither a suite nor a setting says otherwise: VISTA's protocol,
 * and budgets of a large model. Its weights are nobody's business, so model and training are unset.
 */
const base: RunInput = {
  recipe: 'chat',
  protocol: 'vista',
  rollout: { maxTurnTokens: 4096, maxContextTokens: 65_536, concurrency: 16 },
};

/** The run that a chat model is evaluated with, before it is open. @throws ConfigError */
export function chatRun(settings: readonly Setting[]): ResolvedRun {
  return resolveRun(applySettings(base, settings));
}

/**
 * Opens a chat model.
 *
 * @throws ConfigError naming a setting that is out of range
 */
export async function openChatModel(
  run: ResolvedRun,
  options: ChatPlayerOptions & { readonly baseUrl: string; readonly model: string },
): Promise<OpenChatModel> {
  const { model, baseUrl } = options;
  const sampler = await openChatPlayer({
    maxConcurrent: Math.min(4096, run.config.rollout.concurrency),
    ...options,
  });
  return {
    identity: {
      kind: 'chat',
      label: `chat:${model}`,
      // Its name alone: a server may move between two calls that belong together.
      identity: createHash('sha256').update(`chat:${model}`).digest('hex'),
      source: baseUrl,
      chatModel: model,
    },
    run,
    sampler,
    images: new ModelImages(sampler.processor),
    dispose: () => sampler.dispose(),
  };
}
