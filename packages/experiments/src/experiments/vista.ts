import type { Experiment, ExperimentCurve } from '../experiment.ts';

const accuracy: ExperimentCurve = {
  metric: 'accuracy',
  title: 'Right answers',
  about: 'Share of the trajectories of a step.',
  unit: 'share',
};

const curves: readonly ExperimentCurve[] = [
  accuracy,
  {
    metric: 'accuracy/easy',
    title: 'Numbers in codes',
    about: 'Right answers to questions for the number in a code, which a tool says.',
    unit: 'share',
  },
  {
    metric: 'accuracy/turned',
    title: 'Digits on turned tables',
    about: 'Right answers where the image has to be turned back before the look.',
    unit: 'share',
  },
  {
    metric: 'tool_calls/mean',
    title: 'Tool calls',
    about: 'Per trajectory.',
    unit: 'number',
  },
  {
    metric: 'must_use/turn/ratio',
    title: 'Turned as required',
    about: 'Of the trajectories on turned tables, those that used the tool that undoes it.',
    unit: 'share',
  },
  {
    metric: 'errors/E4',
    title: 'E4: another tool or region',
    about: 'Of the wrong trajectories, those with a valid call that could not help.',
    unit: 'share',
  },
];

/** VISTA-R1's comparisons, arXiv:2511.19773, Table 2, Fig. 4 and Fig. 7, at nano size. */
export const vista: Experiment = {
  name: 'vista',
  title: 'VISTA-R1: algorithms, rewards, tools, the tail',
  description:
    'What VISTA-R1 compares: GRPO, PPO and DAPO, four rewards, no tools, and tail-patch.',
  coldStarts: [{ name: 'cold-start', recipe: 'vista-nano', settings: [] }],
  parts: [
    {
      name: 'training',
      title: 'One thing changed at a time',
      about:
        'The paper finds GRPO above PPO and DAPO, whose dropped groups starve the batch; its reward above ' +
        'a dense, a sparse and a difficulty-adaptive one; and training with tools above training without.',
      from: 'cold-start',
      recipe: 'vista-nano',
      settings: [],
      variants: [
        { label: 'GRPO', about: 'The paper’s objective and reward.', settings: [] },
        { label: 'PPO', about: 'A value head instead of groups.', settings: ['algorithm=ppo'] },
        {
          label: 'DAPO',
          about: 'Its loss, and its sampling until no group is all right or all wrong.',
          settings: ['algorithm=dapo', 'scheduler=dynamic-sampling'],
        },
        {
          label: 'dense',
          about: 'Half a point each for format and answer, one more for both.',
          settings: ['reward=vista-dense'],
        },
        {
          label: 'sparse',
          about: 'One for a right answer in the right format, else nothing.',
          settings: ['reward=vista-sparse'],
        },
        {
          label: 'difficulty',
          about: 'The paper’s reward, halved for groups that solve their task.',
          settings: ['reward=vista-difficulty'],
        },
        {
          label: 'no tools',
          about: 'No call is allowed, in training and in evaluation.',
          settings: ['protocol.toolTurns=0'],
        },
      ],
      curves,
    },
    {
      name: 'tail',
      title: 'Continued on the tail',
      about:
        'Both continue the GRPO run: as before, or on tasks alone that its last policy solves once to ' +
        'three times in eight. The paper gains 1.7 points by the latter.',
      from: 'training/GRPO',
      recipe: 'vista-nano',
      settings: [],
      variants: [
        { label: 'no tail-patch', about: 'All tasks of the run before.', settings: [] },
        {
          label: 'tail-patch',
          about: 'Pass rates from 0.125 to 0.375.',
          settings: ['scheduler=tail-patch', 'scheduler.probeTasks=128'],
        },
      ],
      curves: [accuracy],
    },
  ],
};
