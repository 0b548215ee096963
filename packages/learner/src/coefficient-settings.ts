/** Settings of coefficients that follow what a run measures, instead of staying as they are set. */
import { choice, count, quantity, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';

/** The section `coefficients` of a run's settings. */
export const coefficientSettings = z.strictObject({
  klControl: choice(['fixed', 'adaptive'], {
    default: 'fixed',
    about: 'Whether algorithm.klCoefficient stays, or steers KL to a target from step to step.',
  }),
  klTarget: quantity({
    min: 1e-6,
    max: 1e6,
    default: 0.1,
    unit: 'nats',
    about: 'KL to the reference policy to hold.',
  }),
  klHorizon: count({
    min: 1,
    max: 1_000_000_000,
    default: 10_000,
    unit: 'trajectories',
    about: 'Trajectories over which the coefficient of KL follows.',
  }),
  klMaxError: quantity({
    min: 0.001,
    max: 1,
    default: 0.2,
    unit: 'share',
    about: 'Largest relative distance to the target that a step acts on.',
  }),
  entropyControl: choice(['fixed', 'adaptive'], {
    default: 'fixed',
    about: 'Whether algorithm.entropyCoefficient stays, or comes in only while entropy is low.',
  }),
  entropyTarget: quantity({
    min: 0,
    max: 100,
    default: 0.2,
    unit: 'nats',
    about: 'Entropy to keep at least.',
  }),
  entropyDelta: quantity({
    min: 0,
    max: 1,
    default: 0.005,
    unit: 'factor',
    about: 'Change of the coefficient of entropy per step.',
  }),
  entropyMin: quantity({
    min: 0,
    max: 1e6,
    default: 0,
    unit: 'factor',
    about: 'Least coefficient of entropy.',
  }),
  entropyMax: quantity({
    min: 0,
    max: 1e6,
    default: 1,
    unit: 'factor',
    about: 'Largest coefficient of entropy.',
  }),
});

/** The values of the section `coefficients`, with defaults filled in. */
export type CoefficientSettings = SettingsOf<typeof coefficientSettings>;
