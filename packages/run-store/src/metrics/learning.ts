/** Metrics of what a step learned. */
import { type Metric, metricsOf } from './metric.ts';

const rl = ['rl'] as const;

export const learning: readonly Metric[] = [
  ...metricsOf({ source: 'packages/learner/src/learner.ts', stages: ['sft', 'rl'] }, [
    ['loss', 'nats', 'Loss; in the cold start, mean negative log-prob of the shown tokens.', 'trl'],
    ['grad_norm', 'norm', 'Norm of the gradient before clipping.', 'trl'],
    ['learning_rate', '1', 'Learning rate of the optimizer step.', 'trl'],
    ['num_tokens', 'tokens', 'Tokens computed for training so far.', 'trl'],
  ]),
  ...metricsOf({ source: 'packages/loop/src/sft.ts', stages: ['sft'] }, [
    ['loss/<kind>', 'nats', 'Mean negative log-prob of one kind of cold-start examples.'],
  ]),
  ...metricsOf({ source: 'packages/algorithms/src/metrics.ts', stages: rl }, [
    ['clip_ratio/low_mean', 'share', 'Tokens held back by the lower bound of the ratio.', 'trl'],
    ['clip_ratio/high_mean', 'share', 'Tokens held back by the upper bound of the ratio.', 'trl'],
    ['clip_ratio/dual_mean', 'share', 'Tokens held back by the dual clip.'],
    ['clip_ratio/region_mean', 'share', 'Tokens held back by any bound or trust region.', 'trl'],
    ['clip_ratio/low_min', 'share', 'Smallest share clipped low in a sequence.', 'trl'],
    ['clip_ratio/high_max', 'share', 'Largest share clipped high in a sequence.', 'trl'],
    ['approx_kl/k1', 'nats', 'Mean estimate k1 of KL(old ‖ current).'],
    ['approx_kl/k3', 'nats', 'Mean estimate k3 of KL(old ‖ current).'],
    ['ratio/mean', 'ratio', 'Mean importance ratio.'],
    ['ratio/min', 'ratio', 'Smallest importance ratio.'],
    ['ratio/max', 'ratio', 'Largest importance ratio.'],
    ['ratio/p05', 'ratio', 'Quantile 0.05 of the importance ratios.'],
    ['ratio/p50', 'ratio', 'Median of the importance ratios.'],
    ['ratio/p95', 'ratio', 'Quantile 0.95 of the importance ratios.'],
    ['ratio/ess', 'share', 'Effective share of the sample under the importance weights.'],
    ['entropy', 'nats', 'Mean entropy of the policy per trained token.', 'trl'],
    ['kl', 'nats', 'Mean estimate of KL(current ‖ reference) as the loss takes it.', 'trl'],
  ]),
  ...metricsOf({ source: 'packages/algorithms/src/loss.ts', stages: rl }, [
    ['value/loss', 'reward²', 'Mean loss of the value head.'],
    ['value/clip_ratio', 'share', 'Values that were clipped.'],
  ]),
  ...metricsOf({ source: 'packages/algorithms/src/correction.ts', stages: rl }, [
    [
      'sampling/sampling_logp_difference/mean',
      'nats',
      'Mean difference of log-probs between trainer and sampler.',
      'trl',
    ],
    [
      'sampling/sampling_logp_difference/max',
      'nats',
      'Largest difference of log-probs between trainer and sampler.',
      'trl',
    ],
    [
      'sampling/importance_sampling_ratio/min',
      'ratio',
      'Smallest ratio of trainer to sampler.',
      'trl',
    ],
    [
      'sampling/importance_sampling_ratio/mean',
      'ratio',
      'Mean ratio of trainer to sampler.',
      'trl',
    ],
    [
      'sampling/importance_sampling_ratio/max',
      'ratio',
      'Largest ratio of trainer to sampler.',
      'trl',
    ],
    ['sampling/rejected', 'share', 'Tokens that the correction leaves out.'],
    ['sampling/ess', 'share', 'Effective share of the sample under the correction.'],
  ]),
  ...metricsOf({ source: 'packages/learner/src/coefficients.ts', stages: rl }, [
    ['coefficient/kl', 'factor', 'Weight of KL in this step, where it is adaptive.'],
    ['coefficient/entropy', 'factor', 'Weight of the entropy bonus, where it is adaptive.'],
  ]),
];
