/** Codes for the treatment of each token, so that arrays hold numbers. */

/** Names of the bounds that limit a token's ratio, by code. */
export const clipNames = ['none', 'low', 'high', 'dual', 'region'] as const;

/** The bound that limited a token's ratio, or `none`. See `clip` for their meaning. */
export type Clip = (typeof clipNames)[number];

/** Codes of bounds: `low` and `high` of the ratio, `dual` clip, `region` for a trust region. */
export const clip = { none: 0, low: 1, high: 2, dual: 3, region: 4 } as const;

/** Bits that `select` sets in a token's mark. */
export const mark = {
  /** Its entropy is not among the highest: no surrogate loss, no entropy bonus. */
  lowEntropy: 1,
  /** Detached because of its covariance: no surrogate loss. */
  detached: 2,
  /** Its covariance is among the highest: it is pulled back to the old policy. */
  penalized: 4,
  /** Its sequence is too far off-policy and its advantage negative: no surrogate loss. */
  offPolicy: 8,
} as const;

/** Causes of having no surrogate loss, by code. */
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

/** The cause why a token has no surrogate loss, or `trained`. */
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
