import type { Experiment, ExperimentCurve, ExperimentVariant } from '../experiment.ts';

const accuracy: ExperimentCurve = {
  metric: 'accuracy',
  title: 'Right answers',
  about: 'Share of the trajectories of a step.',
  unit: 'share',
};

const toolCalls: ExperimentCurve = {
  metric: 'tool_calls/mean',
  title: 'Tool calls',
  about: 'Per trajectory.',
  unit: 'number',
};

const turned: ExperimentCurve = {
  metric: 'must_use/turn/ratio',
  title: 'Turned as required',
  about: 'Of the trajectories on turned tables, those that used the tool that undoes it.',
  unit: 'share',
};

/** All runs speak one protocol, so that they share a cold start and only rewards differ. */
const protocol = [
  'protocol=pyvision-image-short',
  'protocol.toolTurns=6',
  'protocol.images=8',
  'protocol.evaluationToolTurns=6',
  'protocol.evaluationImages=8',
];

/** The protocol has no thoughts, which CodeVision's format term wants. */
const withoutFormat = 'reward.format-codevision=0';

const codevision: ExperimentVariant = {
  label: 'CodeVision',
  about: 'The reward of the paper.',
  settings: [withoutFormat],
};

const withoutPenalties: ExperimentVariant = {
  label: 'without penalties',
  about: 'The same, its three penalties left out.',
  settings: [
    withoutFormat,
    'reward.turn-limit-penalty=0',
    'reward.poor-reasoning-penalty=0',
    'reward.inappropriate-tool-penalty=0',
  ],
};

const accuracyAlone: ExperimentVariant = {
  label: 'accuracy alone',
  about: '1 for a right answer, with the same algorithm.',
  settings: ['reward=pyvision', 'reward.accumulative-tool=0'],
};

function audited(detector: string, title: string, about: string): ExperimentCurve {
  return { metric: `audit/${detector}`, title, about, unit: 'share' };
}

/** The effect of CodeVision's and CodeDance's rewards on tool use. */
export const rewardShaping: Experiment = {
  name: 'reward-shaping',
  title: 'Reward shaping, trained in',
  description: 'What the rewards of CodeVision and CodeDance do to the tool use of a small policy.',
  coldStarts: [{ name: 'cold-start', recipe: 'codevision-nano', settings: protocol }],
  parts: [
    {
      name: 'codevision',
      title: 'CodeVision: tools that are required',
      about:
        'Three of five tables are turned or flipped and have to be turned back before the crop; one ' +
        'takes a crop alone, one nothing. The light shows how a table lies. The reward pays for required ' +
        'tools and punishes superfluous ones; accuracy alone has to find out that tools help.',
      from: 'cold-start',
      recipe: 'codevision-nano',
      settings: protocol,
      variants: [codevision, withoutPenalties, accuracyAlone],
      curves: [
        turned,
        {
          metric: 'must_use/crop/ratio',
          title: 'Cropped as required',
          about: 'Of those that need a crop, those with one on the digit (IoU at least 0.5).',
          unit: 'share',
        },
        accuracy,
        {
          metric: 'accuracy/turned',
          title: 'Right answers on turned tables',
          about: 'There a look without the turn shows a turned digit.',
          unit: 'share',
        },
        toolCalls,
        {
          metric: 'needless_turns/ratio',
          title: 'Needless turns',
          about: 'Of the trajectories on upright tables, those that turned or flipped.',
          unit: 'share',
        },
      ],
    },
    {
      name: 'dark',
      title: 'CodeVision in the dark: what is paid for trying',
      about:
        'The same tables without the light: nothing shows which tool is required, nor, to a policy that ' +
        'knows places by it, where cards lie. A reward for the required tool is then earned by trying ' +
        'all. The penalties are what stands against it.',
      from: 'cold-start',
      recipe: 'codevision-nano',
      settings: [...protocol, 'taskSet=dark-needle'],
      variants: [codevision, withoutPenalties],
      curves: [
        toolCalls,
        turned,
        {
          metric: 'rewards/must-use-tools/mean',
          title: 'Reward for required tools',
          about: 'Mean of the term.',
          unit: 'number',
        },
        accuracy,
        audited(
          'needless-turns',
          'Audit: needless turns',
          'Share that turned where none is required, or forth and back.',
        ),
        audited(
          'tool-spam',
          'Audit: tool spam',
          'Share with many calls of which half add nothing.',
        ),
      ],
    },
    {
      name: 'codedance',
      title: 'CodeDance: tools where they help',
      about:
        'On half of the tables the digit is printed large and the overview suffices. The reward of a ' +
        'tool call falls with the accuracy of its group and turns negative above 85 %.',
      from: 'cold-start',
      recipe: 'codedance-nano',
      settings: protocol,
      variants: [
        { label: 'CodeDance', about: 'Reward and objective of the paper.', settings: [] },
        accuracyAlone,
        {
          label: 'bonus per call',
          about: 'PyVision-RL’s: 0.1 for every call of a right trajectory.',
          settings: ['reward=pyvision'],
        },
      ],
      curves: [
        {
          metric: 'tool_calls/easy/mean',
          title: 'Tool calls on easy tables',
          about: 'Per trajectory, where the overview suffices.',
          unit: 'number',
        },
        {
          metric: 'tool_calls/hard/mean',
          title: 'Tool calls on hard tables',
          about: 'Per trajectory, where the answer takes a look.',
          unit: 'number',
        },
        {
          metric: 'accuracy/easy',
          title: 'Right answers on easy tables',
          about: 'Share of the trajectories of a step.',
          unit: 'share',
        },
        {
          metric: 'accuracy/hard',
          title: 'Right answers on hard tables',
          about: 'Share of the trajectories of a step.',
          unit: 'share',
        },
        audited('tool-spam', 'Audit: tool spam', 'Share with calls that add nothing.'),
        audited(
          'constant-term',
          'Audit: constant term',
          'Share in groups in which a term says nothing.',
        ),
      ],
    },
  ],
};
