/** Time to read what a model wrote grows with its length, whatever the model wrote. */
import { protocols } from '@saccade/gym';
import { describe, expect, it } from 'vitest';
import { makeContext } from './context.ts';
import { gradeIn } from './judges/fence.ts';
import { type Hostile, hostileTexts } from './linear-time.fixture.ts';
import { rewards, verifiers } from './registry.ts';
import { answerIn } from './response.ts';
import { trajectoryOf } from './trajectories.fixture.ts';
import { exact } from './verifiers/exact.ts';

const readers: readonly (readonly [string, (text: string) => unknown])[] = [
  ...protocols.names.map(
    (name) => [`protocol ${name}`, (text: string) => protocols.get(name).parse(text)] as const,
  ),
  ...verifiers.names.map(
    (name) =>
      [`verifier ${name}`, (text: string) => verifiers.get(name).verify(text, '1')] as const,
  ),
  ['answer of a response', answerIn],
  ['grade of a judge', (text) => gradeIn(text, 'boundary', [0, 1])],
  ['rewards of a trajectory', scoreAll],
];

/** All rewards of one trajectory, which need no code to be analyzed. */
function scoreAll(text: string): void {
  const trajectory = trajectoryOf([{ code: 'pass', text }], { answerText: text });
  const context = makeContext(
    trajectory,
    { answer: '7', metadata: {} },
    { verifier: exact },
    {
      judgeScores: { process: 1, consistency: 1 },
      stepScores: [1],
    },
  );
  for (const name of rewards.names) {
    const reward = rewards.get(name);
    if (reward.scope === 'trajectory') reward.score(trajectory, context);
  }
}

/** The text that takes the processor longest, and its time in milliseconds: other processes add nothing. */
function slowest(read: (text: string) => unknown, texts: Iterable<Hostile>) {
  let worst = { title: '', ms: 0 };
  for (const { title, text } of texts) {
    const before = process.cpuUsage();
    read(text);
    const ms = process.cpuUsage(before).user / 1000;
    if (ms > worst.ms) worst = { title, ms };
    if (ms > 5_000) break;
  }
  return worst;
}

function* someOf(texts: Iterable<Hostile>, every: number): Generator<Hostile> {
  let index = 0;
  for (const text of texts) if (index++ % every === 0) yield text;
}

// A pattern that tries again from every place needs 30,000² steps, seconds, for the short texts.
describe.each(readers)('%s', (_, read) => {
  it('reads 30,000 characters at once', () => {
    const worst = slowest(read, hostileTexts(30_000));
    expect(worst.ms, worst.title).toBeLessThan(700);
  });

  it('reads a million characters in seconds', (context) => {
    if (process.env.SACCADE_SWEEP === undefined) context.skip('`npm run sweep` reads them');
    const worst = slowest(read, someOf(hostileTexts(1_000_000), 8));
    expect(worst.ms, worst.title).toBeLessThan(4_000);
  });
});
