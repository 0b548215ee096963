export { clipCovariance } from './clip-covariance.ts';
export { highestCovariance } from './highest-covariance.ts';
export { offPolicySequences } from './off-policy-sequences.ts';
export { topEntropy } from './top-entropy.ts';
