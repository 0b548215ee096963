/** Rewards of completions that something else sampled: plain texts, and chat messages with a crop. */
import { math, scoreCompletions } from '@saccade/rewards';
import type { Message } from '@saccade/trajectory';

const looked: readonly Message[] = [
  {
    role: 'assistant',
    content: 'I need a closer look.',
    tool_calls: [
      {
        id: 'first',
        function: {
          name: 'python',
          arguments: JSON.stringify({ code: 'image_0.crop((40, 30, 96, 86)).show()' }),
        },
      },
    ],
  },
  { role: 'tool', tool_call_id: 'first', content: 'one image' },
  { role: 'assistant', content: 'The sign says <answer>\\boxed{1/2}</answer>' },
];

const scores = scoreCompletions(
  {
    prompts: Array.from({ length: 3 }, () => 'Which number is on the sign?'),
    completions: [looked, 'I guess \\boxed{0.5}', 'It is \\boxed{3}.'],
    answers: Array.from({ length: 3 }, () => '0.5'),
  },
  { reward: 'pyvision', verifier: math },
);
for (const score of scores) {
  if (score.reward === undefined) throw new Error(score.message);
  console.log(score.reward, score.trajectory.rewardTerms);
}
const rewards = scores.map(({ reward }) => reward);
if (rewards.join() !== '1.1,1,0') throw new Error(`expected 1.1, 1 and 0, got ${rewards}`);
