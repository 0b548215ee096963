import type { Experiment, ExperimentCurve, ExperimentVariant } from '../experiment.ts';

const accuracy: ExperimentCurve = {
  metric: 'accuracy',
  title: 'Right answers in training',
  about: 'Share of the trajectories of a step.',
  unit: 'share',
};

const visualTokens: ExperimentCurve = {
  metric: 'visual_tokens/mean',
  title: 'Visual tokens in training',
  about: 'Tokens of images in the context, per trajectory.',
  unit: 'number',
};

function uniform(frames: number): ExperimentVariant {
  return {
    label: `${frames} frames`,
    about: `${frames} frames of four tokens each, and an answer at once.`,
    settings: [`taskSet.initialFrames=${frames}`],
  };
}

/** PyVision-Video's claim, arXiv:2602.20739, Fig. 4, at nano size. */
export const video: Experiment = {
  name: 'video',
  title: 'Video: frames on demand or at equal distances',
  description: 'What frames on demand gain over uniformly sampled ones, by visual tokens.',
  coldStarts: [
    { name: 'cold-start-on-demand', recipe: 'pyvision-video-nano', settings: [] },
    {
      name: 'cold-start-uniform',
      recipe: 'video-uniform-nano',
      settings: ['taskSet.initialFrames=32', 'coldStart.frames=32'],
    },
  ],
  parts: [
    {
      name: 'on-demand',
      title: 'Frames on demand',
      about:
        'No frame is in the context. The policy writes code that shows a strip of small frames, then ' +
        'frames in full, as many as its tool turns allow.',
      from: 'cold-start-on-demand',
      recipe: 'pyvision-video-nano',
      settings: [],
      variants: [
        {
          label: 'four tool turns',
          about: 'As the recipe has it: the strip and up to three frames.',
          settings: [],
        },
      ],
      curves: [
        accuracy,
        visualTokens,
        {
          metric: 'tool_calls/mean',
          title: 'Tool calls in training',
          about: 'Per trajectory.',
          unit: 'number',
        },
      ],
    },
    {
      name: 'uniform',
      title: 'Uniform frames',
      about:
        'Frames at equal distances are in the context, and the policy answers at once. One of N frames ' +
        'shows the digit with probability N/32. All begin from one cold start on 4 to 32 frames.',
      from: 'cold-start-uniform',
      recipe: 'video-uniform-nano',
      settings: ['coldStart.frames=32'],
      variants: [uniform(4), uniform(8), uniform(16), uniform(32)],
      curves: [accuracy, visualTokens],
    },
  ],
  tradeOff: {
    title: 'Right answers by visual tokens',
    about: 'Held-out clips after training; 95 % Wilson intervals.',
    cost: 'eval/visual_tokens/mean',
    costLabel: 'visual tokens per sample',
    gain: 'eval/accuracy',
  },
};
