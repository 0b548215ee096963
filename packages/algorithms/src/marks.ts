/** Codes that say what was done with each token, so that no array holds words. */

/** What held a token back, by code. */
export const clipNames = ['none', 'low', 'high', 'dual', 'region'] as const;

export type Clip = (typeof clipNames)[number];

/** `low`, `high`: the two bounds of the ratio; `dual`: the dual clip; `region`: a trust region. */
export const clip = { none: 0, low: 1, high: 2, dual: 3, region: 4 } as const;

/** Bits that `select` gives tokens. */
export const mark = {
  /** Its entropy is not among the highest: no surrogate loss, no entropy bonus. */
  lowEntropy: 1,
  /** Its covariance is among those cut out: no surrogate loss. */
  detached: 2,
  /** Its covariance is among the highest: pulled back towards the old policy. */
  penalised: 4,
  /** Its sequence is too far off-policy and its advantage negative: no surrogate loss. */
  offPolicy: 8,
} as const;

/** Why a token has no surrogate loss, by code. */
export const maskCauses = [
  'trained',
  'not the policy’s token',
  'rejected',
  'weight 0',
  'low entropy',
  'high covariance',
  'advantage 0',
  'off-policy',
] as const;

export type MaskCause = (typeof maskCauses)[number];

export const cause = {
  trained: 0,
  masked: 1,
  rejected: 2,
  weightless: 3,
  lowEntropy: 4,
  detached: 5,
  indifferent: 6,
  offPolicy: 7,
} as const;
