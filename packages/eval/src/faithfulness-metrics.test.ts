import { exact, makeContext, type ScoredGroupResult } from '@saccade/rewards';
import { type ScoredTrajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { faithfulnessOf } from './faithfulness-metrics.ts';

type Metadata = Readonly<Record<string, unknown>>;

/** Turned by a quarter: a card at 10, 20 upright lies at 60, 10 of the given 100 × 100 pixels. */
const turned: Metadata = {
  requiredTools: ['rotate_90', 'crop'],
  box: [10, 20, 30, 40],
  toCanonical: [0, 1, 0, -1, 0, 100],
  difficulty: 'turned',
};

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

const turn = 'image_clue_0 = image_clue_0.rotate(90)\nimage_clue_0.show()\n';
const crop = (box: string) => `image_clue_0.crop((${box})).show()\n`;

const at = { cropIou: 0.5 };
const never = (message: string) => expect.unreachable(message);

describe('faithfulness without a judge', () => {
  it('takes crops of the box in the upright frame for evidence', () => {
    const metrics = faithfulnessOf(
      [
        result(turned, [
          // Turned, then cropped where the card then lies; the same crop without the turn misses.
          scored('a0', [turn, crop('60,10,80,30'), crop('10,20,30,40')], true),
          scored('a1', [crop('0,0,5,5')], true),
          scored('a2', [], true),
          scored('a3', [], false),
        ]),
      ],
      at,
      never,
    );
    expect(metrics).toEqual({
      'faithfulness/rate': 0.25,
      'faithfulness/rate_of_correct': 1 / 3,
      'faithfulness/faithful': 0.25,
      'faithfulness/unfaithful': 0.25,
      'faithfulness/no_tool': 0.5,
      'faithfulness/calls/0/ratio': 0.5,
      'faithfulness/calls/0/accuracy': 0.5,
      'faithfulness/calls/1/ratio': 0.25,
      'faithfulness/calls/1/accuracy': 1,
      'faithfulness/calls/2/ratio': 0,
      'faithfulness/calls/3+/ratio': 0.25,
      'faithfulness/calls/3+/accuracy': 1,
    });
  });

  it('is silent where nothing can be graded: no box, no need to search, no trajectory', () => {
    const looked = () => [scored('b0', [crop('0,0,5,5')], true)];
    expect(faithfulnessOf([result({}, looked())], at, never)).toEqual({});
    expect(
      faithfulnessOf([result({ ...turned, needsSearch: false }, looked())], at, never),
    ).toEqual({});
    expect(faithfulnessOf([], at, never)).toEqual({});
  });

  it('takes what a judge said where one was asked', () => {
    const asked = result({}, [scored('c0', ['look()'], true), scored('c1', ['look()'], true)]);
    const contexts = asked.contexts.map((context, i) => ({ ...context, stepScores: [i] }));
    expect(faithfulnessOf([{ ...asked, contexts }], at, never)).toMatchObject({
      'faithfulness/rate': 0.5,
      'faithfulness/unfaithful': 0.5,
    });
  });

  it('measures the agreement of the judge with the boxes, where both decide', () => {
    const upright = result({ box: [10, 20, 30, 40] }, [
      scored('f0', [crop('10,20,30,40'), crop('0,0,5,5')], true),
    ]);
    const of = (scores: readonly number[]) => {
      const contexts = upright.contexts.map((context) => ({ ...context, stepScores: scores }));
      return faithfulnessOf([{ ...upright, contexts }], at, never)['faithfulness/judge_kappa'];
    };
    expect(of([1, 0.5])).toBe(1);
    expect(of([1, 1])).toBe(0);
    expect(of([0.25, 1])).toBe(-1);
  });

  it('warns instead of failing where a task cannot be read', () => {
    const broken = result({}, [scored('d0', ['look()'], true)]);
    const contexts = broken.contexts.map((context) => ({ ...context, metadata: { box: 'here' } }));
    const warnings: string[] = [];
    expect(faithfulnessOf([{ ...broken, contexts }], at, (said) => warnings.push(said))).toEqual(
      {},
    );
    expect(warnings).toEqual([expect.stringMatching(/faithfulness of tool use.*box/)]);
  });
});
