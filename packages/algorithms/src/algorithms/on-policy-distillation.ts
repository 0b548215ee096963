/** Learns from a teacher's log-probs on the policy's own samples. */

import { ConfigError } from '@saccade/core';
import { groupMean } from '../advantages/group-mean.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { gradientOrClip, gradientOrClipSettings } from '../group-relative.ts';
import { paperNumbers } from '../profiles.ts';
import { teacherLogRatio } from '../token-advantages/teacher-log-ratio.ts';

/**
 * The negative reverse KL to the teacher at each sampled token is its advantage; refLogprobs are the
 * teacher's. `rewardWeight` adds the reward's advantage, centered in the group. For a loss on the
 * teacher's likeliest tokens see `topKForwardKl`.
 */
export const onPolicyDistillation: Algorithm = composeAlgorithm({
  name: 'on-policy-distillation',
  paper: 'arXiv:2306.13649',
  description: 'The teacher’s log-ratio at each sampled token is its advantage.',
  settings: { ...groupMean.settings, ...teacherLogRatio.settings, ...gradientOrClipSettings },
  profiles: {
    paper: { ...paperNumbers, surrogate: 'log-probability' },
  },
  choose: (settings) => {
    const { klPlace, klCoefficient, rewardWeight } = settings;
    if (klPlace === 'reward' && klCoefficient !== 0 && rewardWeight === 0) {
      throw new ConfigError(
        'klPlace',
        'KL in the reward has no effect while rewardWeight is 0. Set klPlace to "loss".',
      );
    }
    return {
      groupAdvantage: groupMean(settings),
      tokenAdvantage: teacherLogRatio(settings),
      signal: 'teacher',
      needs: ['refLogprobs'],
      surrogate: gradientOrClip(settings),
      unread: rewardWeight === 0 ? ['singleton'] : [],
    };
  },
});
