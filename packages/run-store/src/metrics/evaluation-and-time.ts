/** Metrics of evaluations, and of the clock. */
import { type Metric, metricsOf } from './metric.ts';

const evaluation = ['evaluation'] as const;

export const evaluationAndTime: readonly Metric[] = [
  ...metricsOf({ source: 'packages/eval/src/error-metrics.ts', stages: evaluation }, [
    ['eval/errors/<kind>', 'share', 'Wrong held-out answers with an error of one kind, E1 to E6.'],
    ['eval/errors/undecided', 'share', 'Wrong held-out answers whose error nobody can tell.'],
    ['eval/errors/judged', 'share', 'Wrong held-out answers whose error a judge told.'],
  ]),
  ...metricsOf({ source: 'packages/eval/src/source-metrics.ts', stages: evaluation }, [
    ['eval/source/<source>/accuracy', 'share', 'Right answers to held-out tasks of one data set.'],
    ['eval/source/<source>/reward', 'reward', 'Mean reward in held-out tasks of one data set.'],
    [
      'eval/source/<source>/tool_calls/mean',
      'calls',
      'Mean tool calls in held-out tasks of one data set.',
    ],
    ['eval/source/<source>/share', 'share', 'Held-out trajectories of one data set.'],
  ]),
  ...metricsOf({ source: 'packages/eval/src/faithfulness-metrics.ts', stages: evaluation }, [
    ['eval/faithfulness/rate', 'share', 'Held-out tasks answered right, with evidence shown.'],
    ['eval/faithfulness/rate_of_correct', 'share', 'Right answers with evidence shown.'],
    ['eval/faithfulness/faithful', 'share', 'Held-out tasks whose tools show evidence.'],
    ['eval/faithfulness/unfaithful', 'share', 'Held-out tasks whose tools show other things.'],
    ['eval/faithfulness/no_tool', 'share', 'Held-out tasks without a tool.'],
    [
      'eval/faithfulness/calls/<count>/ratio',
      'share',
      'Held-out tasks by tool calls: 0, 1, 2, 3+.',
    ],
    ['eval/faithfulness/calls/<count>/accuracy', 'share', 'Right ones with that many tool calls.'],
    ['eval/faithfulness/judge_kappa', 'kappa', 'Agreement of the judge with the boxes.'],
  ]),
  ...metricsOf({ source: 'packages/eval/src/evaluate.ts', stages: evaluation }, [
    ['label', 'name', 'Name of the evaluation: sft, step-<n>, final.'],
    ['eval/accuracy', 'share', 'Held-out tasks whose final answer was judged right.'],
    [
      'eval/tool_calls/mean',
      'calls',
      'Mean number of code executions and tool calls per trajectory, whatever their result.',
    ],
    ['eval/turns/mean', 'turns', 'Mean number of turns per held-out task.'],
    ['eval/visual_tokens/mean', 'tokens', 'Mean number of image tokens in the context.'],
    ['eval/count', 'tasks', 'Held-out tasks that were scored.'],
    ['eval/step_of_rl', 'steps', 'Reinforcement-learning steps done before the evaluation.'],
    ['eval/must_use/<tool>/ratio', 'share', 'Held-out tasks that require a tool and used it.'],
    ['eval/needless_turns/ratio', 'share', 'Held-out tasks turned though none was required.'],
    ['eval/accuracy/<difficulty>', 'share', 'Right answers to held-out tasks of one difficulty.'],
    [
      'eval/tool_calls/<difficulty>/mean',
      'calls',
      'Mean tool calls in held-out tasks of one difficulty.',
    ],
  ]),
  ...metricsOf({ source: 'packages/eval/src/suite/suite-metrics.ts', stages: evaluation }, [
    ['eval/<suite>/accuracy', 'share', 'Mean score of the samples of a suite, over tasks: avg@k.'],
    ['eval/<suite>/pass_at_k', 'share', 'Tasks of a suite that one of k samples solves: pass@k.'],
    ['eval/<suite>/maj_at_k', 'share', 'Score of the answer that most of k samples give: maj@k.'],
    ['eval/<suite>/tool_calls', 'calls', 'Mean tool calls of a sample of a suite.'],
    ['eval/<suite>/turns', 'turns', 'Mean number of turns of a sample of a suite.'],
    ['eval/<suite>/tokens', 'tokens', 'Mean tokens that the model wrote in a sample of a suite.'],
    ['eval/<suite>/visual_tokens', 'tokens', 'Mean image tokens in the context of a sample.'],
    ['eval/<suite>/missing', 'samples', 'Samples of a suite that failed and have no score.'],
  ]),
  ...metricsOf(
    { source: 'packages/run-store/src/metrics-log.ts', stages: ['sft', 'rl', 'evaluation'] },
    [
      ['stage', 'name', 'Stage of the run: sft, rl or evaluation.'],
      ['step', 'steps', 'Steps of the whole run: cold-start updates, then RL steps.'],
    ],
  ),
  ...metricsOf({ source: 'packages/loop/src/after-step.ts', stages: ['sft', 'rl'] }, [
    ['step_time', 'seconds', 'Wall-clock time of the step.', 'trl'],
  ]),
  ...metricsOf({ source: 'packages/loop/src/rl.ts', stages: ['rl', 'evaluation'] }, [
    ['time/<phase>', 'seconds', 'Wall-clock time of one phase: rollout, learn, audit, evaluation.'],
    [
      'throughput/<unit>_per_second',
      '1/s',
      'Tokens or trajectories per second of wall-clock time.',
    ],
  ]),
];
