import type { Experiment, ExperimentCurve } from '../experiment.ts';

const toolCalls: ExperimentCurve = {
  metric: 'tool_calls/mean',
  title: 'Tool calls',
  about: 'Per trajectory.',
  unit: 'number',
};

const accuracy: ExperimentCurve = {
  metric: 'accuracy',
  title: 'Right answers',
  about: 'Share of the trajectories of a step.',
  unit: 'share',
};

/** PyVision-RL's claims about rollouts, one thing left out at a time; and asynchronous rollouts. */
export const rollouts: Experiment = {
  name: 'rollouts',
  title: 'Rollouts: bonus, turns, ranking, overlap',
  description:
    'What PyVision-RL’s bonus, turn budget and ranking do, and what rolling out while training gains.',
  coldStarts: [
    { name: 'cold-start', recipe: 'pyvision-image-nano', settings: ['evaluation.everySteps=0'] },
  ],
  parts: [
    {
      name: 'ablations',
      title: 'PyVision-RL, and one thing left out',
      about:
        'The paper (Fig. 5 to 7) finds that tool calls fall to a low value without the bonus, that a ' +
        'larger turn budget pays late, and that ranking groups by the spread of their rewards leaves ' +
        'fewer right trajectories to be pushed down.',
      from: 'cold-start',
      recipe: 'pyvision-image-nano',
      settings: ['rl.steps=40', 'evaluation.everySteps=0'],
      variants: [
        { label: 'PyVision-RL', about: 'Bonus 0.1 per call, four turns, ranking.', settings: [] },
        {
          label: 'no bonus',
          about: 'Accuracy alone is rewarded.',
          settings: ['reward.accumulative-tool=0'],
        },
        {
          label: 'two turns',
          about: 'Two executions of code in a trajectory.',
          settings: ['protocol.toolTurns=2', 'protocol.evaluationToolTurns=2'],
        },
        {
          label: 'no ranking',
          about: 'Groups fill the batch in the order of their tasks.',
          settings: ['scheduler.ranking=false'],
        },
      ],
      curves: [
        toolCalls,
        accuracy,
        {
          metric: 'positive_negative_advantage_ratio',
          title: 'Right, and pushed down',
          about: 'Of the right trajectories trained on, those with a negative advantage.',
          unit: 'share',
        },
        {
          metric: 'tool_calls/zero_ratio',
          title: 'Answers without a look',
          about: 'Share of the trajectories of a step.',
          unit: 'share',
        },
      ],
    },
    {
      name: 'overlap',
      title: 'Rolling out while training, one tool in ten slow',
      about:
        'On a tenth of the tasks every tool answers five seconds late. A synchronous step waits for ' +
        'the last of them; an asynchronous one trains on what is ready, one step old at most.',
      from: 'cold-start',
      recipe: 'pyvision-image-nano',
      settings: [
        'rl.steps=20',
        'rl.minibatches=1',
        'evaluation.everySteps=0',
        'rollout.slowShare=0.1',
        'rollout.slowSeconds=5',
      ],
      variants: [
        {
          label: 'synchronous',
          about: 'Rolls out, then trains.',
          settings: ['scheduler=synchronous'],
        },
        {
          label: 'asynchronous',
          about: 'Drops what would be more than one step old, which is mostly slow tasks.',
          settings: ['scheduler=asynchronous', 'scheduler.maxStaleness=1'],
        },
        {
          label: 'asynchronous, waits',
          about: 'Waits for what would be more than two steps old, and drops nothing.',
          settings: [
            'scheduler=asynchronous',
            'scheduler.maxStaleness=2',
            'scheduler.tooStale=wait',
          ],
        },
      ],
      curves: [
        {
          metric: 'throughput/trajectories_per_second',
          title: 'Trajectories a second',
          about: 'Trained on, over the seconds of the step.',
          unit: 'number',
        },
        { ...accuracy, title: 'Right answers over time', over: 'seconds' },
        {
          ...accuracy,
          metric: 'reward',
          title: 'Reward',
          about: 'Mean of a step.',
          unit: 'number',
        },
      ],
    },
  ],
};
