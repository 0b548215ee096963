/** From where on an operation counts as nothing new, or as a quarter turn. */

/** Numbers that the analysis of code judges operations by. */
export interface EffectThresholds {
  /** A crop of at least this share of its image changes nothing worth a look. */
  readonly wholeShare: number;
  /** A crop with at least this IoU with an earlier one shows nothing new. */
  readonly repeatedIou: number;
  /** A turn by an angle this near to a quarter turn, in degrees, is one. */
  readonly quarterDegrees: number;
}

/** CodeV's redlines (arXiv:2511.19661, §4.3) for crops; CodeVision's code for angles. */
export const effectThresholds: EffectThresholds = {
  wholeShare: 0.9,
  repeatedIou: 0.95,
  quarterDegrees: 5,
};
