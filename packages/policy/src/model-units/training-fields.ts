/** Settings that every model on local kernels has: what trains, and in how much memory. */
import { choice, count, flag, quantity, type SettingsOf, textList } from '@saccade/core/settings';
import { z } from 'zod';
import type { LanguageModel } from '../models/language-model.ts';
import { matchingParameters } from '../models/model-parts.ts';
import type { TrainingOptions } from '../open-policy.ts';

const targets = (part: string, preset: readonly string[]) =>
  z
    .array(z.string().min(1))
    .default([...preset])
    .meta({
      unit: 'patterns',
      description:
        `Linear layers of ${part} that are adapted: ends of their names, regular expressions ` +
        'over whole names, or all-linear.',
    });

const lora = z.strictObject({
  rank: count({ min: 1, max: 4096, default: 16, unit: 'rows', about: 'Rank r of each adapter.' }),
  alpha: quantity({
    min: 1e-3,
    max: 65_536,
    default: 32,
    unit: 'a factor times the rank',
    about: 'α: what an adapter adds is scaled by α/r.',
  }),
  rsLora: flag({
    default: false,
    about: 'Whether it is scaled by α/√r instead, arXiv:2312.03732.',
  }),
  targets: targets('the language model', ['all-linear']),
  mergerTargets: targets('the merger', []),
  visionTargets: targets('the vision tower', []),
  sampling: choice(['unmerged', 'merged'], {
    default: 'unmerged',
    about:
      'Weights that samples are drawn from: with adapters beside them, which gives the log-probs ' +
      'of training bit for bit, or copies with adapters added, which is faster.',
  }),
});

/** The fields, for a model's schema. */
export const trainingFields = {
  trainable: textList({
    unit: 'patterns',
    about:
      'Parameters that train: language, merger, vision, or regular expressions over whole names. ' +
      'Empty: all, or the adapters.',
  }),
  recompute: flag({
    default: false,
    about:
      'Whether the backward runs each block of the model again instead of keeping its ' +
      'activations: less memory, more time, the same bits.',
  }),
  lora: lora.optional(),
};

/** How a policy trains by these settings. @throws ConfigError if a pattern names nothing */
export function trainingOptions(
  settings: SettingsOf<z.ZodObject<typeof trainingFields>>,
  model: LanguageModel,
): TrainingOptions {
  const { trainable, recompute, lora: adapted } = settings;
  const names = model.specs.map(({ name }) => name);
  return {
    recompute,
    ...(trainable.length > 0 && {
      trainable: matchingParameters(names, trainable, 'model.trainable'),
    }),
    ...(adapted && {
      lora: {
        rank: adapted.rank,
        alpha: adapted.alpha,
        rsLora: adapted.rsLora,
        targets: {
          language: adapted.targets,
          merger: adapted.mergerTargets,
          vision: adapted.visionTargets,
        },
      },
      samplesMerged: adapted.sampling === 'merged',
    }),
  };
}
