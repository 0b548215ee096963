/** Coefficients that follow what a run measures: what a step learns with, and the next one. */
import {
  type AdaptiveEntropyState,
  type Algorithm,
  adaptiveEntropy,
  adaptiveEntropyStart,
  adaptiveKl,
} from '@saccade/algorithms';
import { ConfigError } from '@saccade/core';
import type { CoefficientSettings } from './coefficient-settings.ts';

/** Where they stand between two steps; plain data, for checkpoints. */
export interface Coefficients {
  /** Present where the coefficient of KL is adaptive. */
  readonly kl?: number;
  /** Present where that of entropy is. */
  readonly entropy?: AdaptiveEntropyState;
}

/** The measurements of a step. */
export interface Measured {
  /** Mean KL to the reference policy, nats. */
  readonly kl?: number | undefined;
  /** Mean entropy of the step's tokens, nats. */
  readonly entropy?: number | undefined;
  /** Trajectories learned from. */
  readonly sequences: number;
}

/** @throws ConfigError for a coefficient of KL that would stay 0, whatever it is multiplied with */
export function checkCoefficients(
  { settings }: Pick<Algorithm, 'settings'>,
  { klControl }: CoefficientSettings,
): void {
  if (klControl === 'fixed' || settings.klCoefficient !== 0) return;
  throw new ConfigError(
    'coefficients.klControl',
    'coefficients.klControl: an adaptive coefficient starts from algorithm.klCoefficient, which is ' +
      '0. Set that above 0, e.g. algorithm.klCoefficient=0.001.',
  );
}

/** Where the coefficients of a run stand before its first step: as the algorithm has them. */
export function startingCoefficients(
  { settings }: Pick<Algorithm, 'settings'>,
  { klControl, entropyControl }: CoefficientSettings,
): Coefficients {
  return {
    ...(klControl === 'adaptive' && { kl: Number(settings.klCoefficient) }),
    ...(entropyControl === 'adaptive' && {
      entropy: adaptiveEntropyStart(Number(settings.entropyCoefficient)),
    }),
  };
}

/** The algorithm with the coefficients of a step; itself where none is adaptive. */
export function withCoefficients(algorithm: Algorithm, { kl, entropy }: Coefficients): Algorithm {
  if (kl === undefined && entropy === undefined) return algorithm;
  return algorithm.with({
    ...(kl !== undefined && { klCoefficient: kl }),
    ...(entropy !== undefined && { entropyCoefficient: entropy.applied }),
  });
}

/** The coefficients of the next step; what was not measured changes nothing. */
export function nextCoefficients(
  { kl, entropy }: Coefficients,
  measured: Measured,
  settings: CoefficientSettings,
): Coefficients {
  const { klTarget: target, klHorizon: horizon, klMaxError: maxError } = settings;
  return {
    ...(kl !== undefined && {
      kl:
        measured.kl === undefined
          ? kl
          : adaptiveKl(kl, measured.kl, measured.sequences, { target, horizon, maxError }),
    }),
    ...(entropy !== undefined && {
      entropy:
        measured.entropy === undefined
          ? entropy
          : adaptiveEntropy(entropy, measured.entropy, {
              target: settings.entropyTarget,
              delta: settings.entropyDelta,
              min: settings.entropyMin,
              max: settings.entropyMax,
            }),
    }),
  };
}

/** The coefficients that a step learned with, as metrics; empty where none is adaptive. */
export function coefficientMetrics({ kl, entropy }: Coefficients): Record<string, number> {
  return {
    ...(kl !== undefined && { 'coefficient/kl': kl }),
    ...(entropy !== undefined && { 'coefficient/entropy': entropy.applied }),
  };
}
