import { exact, makeContext, type ScoredGroupResult } from '@saccade/rewards';
import { type ScoredTrajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { boxInImage } from './box-in-image.ts';
import { taskMetrics } from './task-metrics.ts';

type Metadata = Readonly<Record<string, unknown>>;

/** Turned by a quarter: a card at 10, 20 upright lies at 60, 10 of the given 100 × 100 pixels. */
const turned: Metadata = {
  requiredTools: ['rotate_90', 'crop'],
  box: [10, 20, 30, 40],
  toCanonical: [0, 1, 0, -1, 0, 100],
  difficulty: 'turned',
};
const easy: Metadata = { requiredTools: [], difficulty: 'easy' };

function scored(id: string, codes: readonly string[], isCorrect: boolean): ScoredTrajectory {
  const builder = new TrajectoryBuilder({ id, taskId: id.slice(0, 1), sampleIndex: 0 });
  const image = { name: 'image_clue_0', png: new Uint8Array(), width: 100, height: 100 };
  const shown = { ...image, modelWidth: 28, modelHeight: 28, tokenCount: 1 };
  builder.prompt({ tokens: Int32Array.of(1), images: [shown], text: '?' });
  const speak = (text: string) =>
    builder.model({
      tokens: Int32Array.of(2),
      logprobs: Float32Array.of(-1),
      text,
      policyVersion: 0,
    });
  for (const code of codes) {
    speak(code);
    const result = { kind: 'ok', stdout: '', stderr: '', imageCount: 1, wallMs: 1 } as const;
    builder.turn({ kind: 'code', code }, result);
    builder.observation({ tokens: Int32Array.of(3), images: [], text: 'seen' });
  }
  speak('7');
  builder.turn({ kind: 'answer', answer: '7' });
  return { ...builder.finish('answered'), reward: 0, rewardTerms: {}, isCorrect };
}

function result(metadata: Metadata, trajectories: readonly ScoredTrajectory[]): ScoredGroupResult {
  const contexts = trajectories.map((trajectory) =>
    makeContext(trajectory, { answer: '7', metadata }, { verifier: exact }),
  );
  const taskId = trajectories[0]?.taskId ?? '';
  return { scored: { taskId, trajectories }, contexts, failed: [] };
}

const task = (id: string, metadata: Metadata) => {
  return { id, question: '?', images: [], answer: '7', metadata };
};
const turn = 'image_clue_0 = image_clue_0.rotate(90)\nimage_clue_0.show()\n';
const crop = (box: string) => `image_clue_0.crop((${box})).show()\n`;

describe('metrics by what tasks call for', () => {
  const tasks = [task('a', turned), task('b', easy), task('c', {})];
  const of = (results: readonly ScoredGroupResult[]) => taskMetrics(results, tasks);

  it('counts required tools where they are required, crops in the upright frame', () => {
    const metrics = of([
      result(turned, [
        scored('a/0', [turn, crop('10,20,30,40')], true),
        // The same place, seen before the turn.
        scored('a/1', [crop('60,10,80,30')], false),
        // The same numbers without the turn are another place.
        scored('a/2', [crop('10,20,30,40')], false),
        scored('a/3', [], true),
      ]),
      result(easy, [scored('b/0', [turn], true), scored('b/1', [], true)]),
    ]);
    expect(metrics).toEqual({
      'must_use/turn/ratio': 0.25,
      'must_use/crop/ratio': 0.5,
      'must_use/all/ratio': 0.25,
      'needless_turns/ratio': 0.5,
      'accuracy/turned': 0.5,
      'tool_calls/turned/mean': 1,
      'accuracy/easy': 1,
      'tool_calls/easy/mean': 0.5,
    });
  });

  it('says nothing of what no task says', () => {
    expect(of([result({}, [scored('c/0', [turn], true)])])).toEqual({});
    expect(of([])).toEqual({});
  });

  it('knows where the box lies in the image that was given', () => {
    expect(boxInImage(task('a', turned))).toEqual([60, 10, 80, 30]);
    expect(boxInImage(task('d', { box: [1, 2, 3, 4] }))).toEqual([1, 2, 3, 4]);
    expect(boxInImage(task('c', {}))).toBeUndefined();
  });
});
