/** Metrics of what a step rolled out, before anything is filtered. */
import { type Metric, metricsOf } from './metric.ts';

const rl = ['rl'] as const;

export const rollouts: readonly Metric[] = [
  ...metricsOf({ source: 'packages/eval/src/trajectory-metrics.ts', stages: rl }, [
    ['reward', 'reward', 'Mean reward of the trajectories of a step.', 'trl'],
    ['reward_std', 'reward', 'Mean over groups of the standard deviation of rewards.', 'trl'],
    ['frac_reward_zero_std', 'share', 'Groups whose rewards are all equal.', 'trl'],
    ['rewards/<term>/mean', 'reward', 'Mean of one weighted term of the reward.', 'trl'],
    ['accuracy', 'share', 'Trajectories whose final answer was judged right.'],
    ['completions/mean_length', 'tokens', 'Mean number of tokens that the model wrote.', 'trl'],
    ['completions/max_length', 'tokens', 'Largest number of tokens that the model wrote.', 'trl'],
    [
      'completions/clipped_ratio',
      'share',
      'Trajectories that ended because the token budget ran out.',
      'trl',
    ],
    [
      'tool_calls/mean',
      'calls',
      'Mean number of code executions and tool calls per trajectory, whatever their result.',
    ],
    ['tool_calls/zero_ratio', 'share', 'Trajectories without a code execution or tool call.'],
    [
      'visual_tokens/mean',
      'tokens',
      'Mean number of image tokens in the context, prompt included.',
    ],
    ['turns/mean', 'turns', 'Mean number of turns per trajectory.'],
    ['broken/ratio', 'share', 'Trajectories that end without an answer or with a broken action.'],
    [
      'sampling/kept_mass',
      'probability',
      'Mean probability of the tokens that topK, topP and minP kept; absent without them.',
    ],
    [
      'positive_negative_advantage_ratio',
      'share',
      'Right trajectories among those trained on whose advantage is negative.',
    ],
  ]),
  ...metricsOf({ source: 'packages/eval/src/task-metrics.ts', stages: rl }, [
    ['must_use/turn/ratio', 'share', 'Tasks that require a turn or flip in which it was done.'],
    [
      'must_use/crop/ratio',
      'share',
      'Tasks that require a crop with one of evaluation.cropIou or more.',
    ],
    ['must_use/all/ratio', 'share', 'Tasks that require tools in which all of them were used.'],
    ['needless_turns/ratio', 'share', 'Tasks that require no turn in which the image was turned.'],
    ['accuracy/<difficulty>', 'share', 'Right answers to the tasks of one difficulty.'],
    ['tool_calls/<difficulty>/mean', 'calls', 'Mean tool calls in the tasks of one difficulty.'],
  ]),
  ...metricsOf({ source: 'packages/eval/src/tool-mixture.ts', stages: rl }, [
    ['tools/<category>', 'share', 'Operations on images of one family, of all operations.'],
  ]),
  ...metricsOf({ source: 'packages/eval/src/source-metrics.ts', stages: rl }, [
    ['source/<source>/accuracy', 'share', 'Right answers to the tasks of one data set.'],
    ['source/<source>/reward', 'reward', 'Mean reward in the tasks of one data set.'],
    ['source/<source>/tool_calls/mean', 'calls', 'Mean tool calls in the tasks of one data set.'],
    ['source/<source>/share', 'share', 'Trajectories of the tasks of one data set.'],
  ]),
  ...metricsOf({ source: 'packages/eval/src/faithfulness-metrics.ts', stages: rl }, [
    ['faithfulness/rate', 'share', 'Trajectories that are right and show what is asked about.'],
    ['faithfulness/rate_of_correct', 'share', 'Right trajectories that show what is asked about.'],
    ['faithfulness/faithful', 'share', 'Trajectories whose tools show what is asked about.'],
    ['faithfulness/unfaithful', 'share', 'Trajectories whose tools show other things only.'],
    ['faithfulness/no_tool', 'share', 'Trajectories without a tool, of those that are graded.'],
    ['faithfulness/calls/<count>/ratio', 'share', 'Trajectories with 0, 1, 2, or 3+ tool calls.'],
    ['faithfulness/calls/<count>/accuracy', 'share', 'Right ones with that many tool calls.'],
    ['faithfulness/judge_kappa', 'kappa', 'Agreement of the judge of executions with the boxes.'],
  ]),
  ...metricsOf({ source: 'packages/eval/src/error-metrics.ts', stages: rl }, [
    ['errors/<kind>', 'share', 'Wrong trajectories with an error of one kind, E1 to E6 (VISTA).'],
    ['errors/undecided', 'share', 'Wrong trajectories with tools whose error nobody can tell.'],
    ['errors/judged', 'share', 'Wrong trajectories whose error a judge told (judge.judgesErrors).'],
  ]),
  ...metricsOf({ source: 'packages/loop/src/audit-metrics.ts', stages: rl }, [
    ['audit/<detector>', 'share', 'Trajectories that one detector of reward hacking flags.'],
    [
      'rewards/<term>/accuracy_correlation',
      'Pearson r',
      'Correlation of one term of the reward with the verdict, where both vary.',
    ],
  ]),
  ...metricsOf({ source: 'packages/loop/src/step-row.ts', stages: rl }, [
    ['filter/<reason>/groups', 'groups', 'Groups that the scheduler dropped for one reason.'],
    ['filter/<reason>/trajectories', 'trajectories', 'Trajectories dropped for one reason.'],
    ['trained_trajectories', 'trajectories', 'Trajectories that the step trained on.'],
    ['schedule/rounds', 'rounds', 'Rounds of rollouts that the batch took, if more than one.'],
    ['schedule/exhausted', 'flag', '1 if the rounds ran out before the batch was full.'],
    ['failed/ratio', 'share', 'Trajectories without a reward because infrastructure failed.'],
    ['failed/<boundary>', 'trajectories', 'Trajectories that failed at one boundary.'],
  ]),
  ...metricsOf({ source: 'packages/loop/src/work-meter.ts', stages: rl }, [
    [
      'time/publish',
      'seconds',
      'Time in which new weights were given to the engine, within the step.',
    ],
    ['throughput/requests', 'requests', 'Requests that were answered in the step.'],
    ['time/request', 'seconds', 'Mean time from a request to its answer.'],
    ['throughput/sessions', 'sessions', 'Sandbox sessions that rollouts of the step opened.'],
    ['time/session_open', 'seconds', 'Mean time until a session was open, waiting included.'],
    ['throughput/executions', 'executions', 'Executions of code that ended in the step.'],
    ['time/execution', 'seconds', 'Mean time of an execution, waiting left out.'],
    ['time/execution_processor', 'seconds', 'Mean time of an execution on a processor.'],
    [
      'time/main_thread/<phase>',
      'seconds',
      'Time in which JavaScript ran: in rollout, in learn, or in a step that does both.',
    ],
    [
      'time/processors/<phase>',
      'seconds',
      'Processor time of all threads of the process in a phase.',
    ],
    [
      'time/sandbox_processors/<phase>',
      'seconds',
      'Processor time of all processes of the sandbox in a phase.',
    ],
  ]),
  ...metricsOf({ source: 'packages/loop/src/staleness-metrics.ts', stages: rl }, [
    ['staleness/mean', 'batches', 'Mean age of the trained trajectories since they were sampled.'],
    ['staleness/max', 'batches', 'Largest age of a trained trajectory.'],
    ['staleness/mixed_ratio', 'share', 'Trained trajectories sampled by several policy versions.'],
    ['staleness/<age>', 'share', 'Trained trajectories of one age in batches.'],
  ]),
  ...metricsOf({ source: 'packages/loop/src/streaming.ts', stages: rl }, [
    ['queue/ready', 'groups', 'Scored groups that are neither trained on nor dropped.'],
    ['queue/in_flight', 'trajectories', 'Trajectories that are being rolled out.'],
  ]),
];
