/** How much memory a run takes, and what would make it fit, before anything is loaded. */
import { ConfigError, type EventSink } from '@saccade/core';
import { largestImage, type MemoryForecast, predictMemory } from '@saccade/policy/models';
import { hubOf } from './hub.ts';
import { algorithmOf, contextsOf, optimizersOf } from './parts.ts';
import { protocolOf } from './protocol-of.ts';
import { inputOfRun, type ResolvedRun, resolveRun } from './run-config.ts';
import type { Setting } from './setting.ts';
import { applySettings } from './settings.ts';
import { required, settingsOf } from './unit-settings.ts';

/** What a forecast assumes beyond the run's settings. */
export interface ForecastOptions {
  /** Size of the images, pixels, before the processor shrinks them. */
  readonly image: { readonly width: number; readonly height: number };
  readonly onEvent: EventSink;
}

/**
 * Forecasts the memory of a run's device: as many contexts of the longest length as it samples and
 * packs, each with as many images as its protocol allows. Only descriptions are read; of a model on
 * a hub all but the weights is downloaded.
 *
 * @throws ConfigError  if the model has no plan, or a setting does not fit it
 */
export async function forecastRun(
  run: ResolvedRun,
  { image: size, onEvent }: ForecastOptions,
): Promise<MemoryForecast> {
  const { config, units } = run;
  const unit = required(units.model);
  if (unit.plan === undefined) {
    throw new ConfigError(
      'model',
      `model: ${unit.name} cannot tell its size before it is opened. Give it a plan(), or choose ` +
        'another model.',
    );
  }
  const protocol = protocolOf(run);
  const plan = await unit.plan(settingsOf(config.model), {
    corpus: units.coldStart?.corpus(protocol) ?? [],
    hub: { ...hubOf(process.env), onEvent },
  });
  const algorithm = algorithmOf(run);
  const hasImages = plan.model.encodeImages !== undefined && protocol.budgets.images > 0;
  const { width, height } = size;
  return await predictMemory(plan, {
    optimizer: optimizersOf(run).optimizer.optimizer,
    valueHead: algorithm.needs.includes('values'),
    hasReference: algorithm.needs.includes('refLogprobs'),
    microBatchTokens: config.packing.microBatchTokens,
    contextTokens: config.rollout.maxContextTokens,
    concurrency: contextsOf(run),
    engine: config.policy,
    ...(hasImages && {
      images: {
        image: await largestImage(plan.processor, width, height),
        perContext: protocol.budgets.images,
      },
    }),
  });
}

/** Settings with which a run takes less memory, and how much. */
export interface Remedy {
  readonly settings: readonly Setting[];
  readonly forecast: MemoryForecast;
}

/**
 * The first of these that fits: one setting alone, then ever more of them together.
 *
 * @returns undefined if nothing here makes it fit
 */
export async function findRemedy(
  run: ResolvedRun,
  options: ForecastOptions,
  fits: (forecast: MemoryForecast) => boolean,
): Promise<Remedy | undefined> {
  const single = remediesOf(run);
  const combined = single.map((_, i) => single.slice(0, i + 1).flat()).slice(1);
  for (const settings of [...single, ...combined]) {
    const changed = resolveRun(applySettings(inputOfRun(run), settings));
    const forecast = await forecastRun(changed, options);
    if (fits(forecast)) return { settings, forecast };
  }
  return undefined;
}

/** Settings that save memory, those that change least first; none that the run has already. */
function remediesOf(run: ResolvedRun): readonly (readonly Setting[])[] {
  const { config, fields } = run;
  const { packing, rollout, model } = config;
  const has = (path: string) => fields.some((field) => field.path === path);
  const remedies: Setting[][] = [];
  if (has('model.recompute') && model.recompute !== true) {
    remedies.push([{ path: 'model.recompute', value: true }]);
  }
  if (packing.microBatchTokens > rollout.maxContextTokens) {
    const value = rollout.maxContextTokens;
    remedies.push([{ path: 'packing.microBatchTokens', value }]);
  }
  const contexts = contextsOf(run);
  if (contexts > 1) {
    const value = Math.ceil(contexts / 4);
    remedies.push([{ path: 'rollout.concurrency', value }]);
  }
  if (has('model.dtype') && model.dtype !== 'bf16') {
    remedies.push([{ path: 'model.dtype', value: 'bf16' }]);
  }
  if (has('model.lora.rank') && model.lora === undefined) {
    remedies.push([{ path: 'model.lora.rank', value: 16 }]);
  }
  return remedies;
}
