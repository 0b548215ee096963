import type { Experiment, ExperimentCurve } from '../experiment.ts';

function share(metric: string, title: string, about: string): ExperimentCurve {
  return { metric, title, about, unit: 'share' };
}

/** The protocol has no tags that CodeV's format term could check. */
const withoutFormat = 'reward.format-codev=0';

/** CodeV's ablation of rewards, arXiv:2511.19661, Table 2, with its faithfulness, at nano size. */
export const faithfulness: Experiment = {
  name: 'faithfulness',
  title: 'Faithful tool use: outcome, consistency, evidence',
  description: 'What rewards for the outcome, for consistency and for evidence make of tool use.',
  coldStarts: [
    { name: 'cold-start', recipe: 'pyvision-image-nano', settings: ['evaluation.everySteps=0'] },
  ],
  parts: [
    {
      name: 'rewards',
      title: 'Three rewards from one cold start',
      about:
        'CodeV finds that an outcome reward leaves tool use unfaithful, that one for consistency changes ' +
        'little, and that grades of what each call shows make it faithful. Here rules stand in for its ' +
        'judges: a crop is evidence by its overlap with the card asked about, and an answer is ' +
        'consistent if a look came right before it, wherever it went.',
      from: 'cold-start',
      recipe: 'pyvision-image-nano',
      settings: [
        'algorithm=tapo',
        'scheduler=synchronous',
        'scheduler.promptsPerStep=16',
        'rl.steps=30',
        'evaluation.everySteps=10',
        'evaluation.keepTrajectories=200',
      ],
      variants: [
        {
          label: 'outcome',
          about: 'Accuracy alone: 1 for a right answer.',
          settings: ['reward=codev', withoutFormat, 'reward.evidence=0'],
        },
        {
          label: 'consistency',
          about: 'Half a point more where the answer directly follows a look.',
          settings: ['reward=codev-consistency', withoutFormat, 'judge=boxes'],
        },
        {
          label: 'evidence',
          about: 'Half the mean grade of all calls more: CodeV’s, its red lines included.',
          settings: ['reward=codev', withoutFormat, 'judge=boxes'],
        },
      ],
      curves: [
        share('accuracy', 'Right answers', 'Share of the trajectories of a step.'),
        share('faithfulness/rate', 'Right with evidence', 'Algorithm 1: of all trajectories.'),
        share('faithfulness/faithful', 'Tools with evidence', 'Figure 5: of all trajectories.'),
        share(
          'faithfulness/unfaithful',
          'Tools without evidence',
          'Figure 5: of all trajectories.',
        ),
        share('faithfulness/no_tool', 'No tool', 'Figure 5: of all trajectories.'),
        {
          metric: 'tool_calls/mean',
          title: 'Tool calls',
          about: 'Per trajectory.',
          unit: 'number',
        },
      ],
      outcomes: [
        { metric: 'eval/accuracy', title: 'accuracy', unit: 'share' },
        { metric: 'eval/faithfulness/rate', title: 'right with evidence', unit: 'share' },
        { metric: 'eval/faithfulness/rate_of_correct', title: 'of the right', unit: 'share' },
        { metric: 'eval/faithfulness/faithful', title: 'faithful', unit: 'share' },
        { metric: 'eval/faithfulness/unfaithful', title: 'unfaithful', unit: 'share' },
        { metric: 'eval/faithfulness/no_tool', title: 'no tool', unit: 'share' },
        { metric: 'eval/tool_calls/mean', title: 'tool calls', unit: 'number' },
      ],
    },
  ],
};
