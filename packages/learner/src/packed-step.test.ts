/** From rewards to advantages: hand-worked batches through scoring, the step's tokens, algorithms. */
import { algorithms, turnReturnsStandardized } from '@saccade/algorithms';
import { exact, presetTerms, scoreGroup } from '@saccade/rewards';
import { type ToolResult, type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { stepTokens } from './packed-step.ts';

const ran: ToolResult = { kind: 'ok', stdout: '', stderr: '', imageCount: 1, wallMs: 1 };

/** One token per turn; `ok` or `fail` for every execution, then the answer. */
function trajectory(index: number, executions: readonly string[], answer = '7'): Trajectory {
  const made = new TrajectoryBuilder({ id: `t/${index}`, taskId: 't', sampleIndex: index });
  made.prompt({ tokens: Int32Array.of(1), images: [], text: 'which digit' });
  const speak = (text: string): void => {
    made.model({ tokens: Int32Array.of(2), logprobs: Float32Array.of(-1), text, policyVersion: 0 });
  };
  for (const execution of executions) {
    speak('<code>look()</code>');
    const kind = execution === 'ok' ? 'ok' : 'exception';
    made.turn({ kind: 'code', code: 'look()' }, { ...ran, kind });
    made.observation({ tokens: Int32Array.of(3), images: [], text: 'seen' });
  }
  speak(`<answer>${answer}</answer>`);
  made.turn({ kind: 'answer', answer });
  return made.finish('answered');
}

function scored(preset: string, trajectories: readonly Trajectory[]) {
  const scoring = { verifier: exact, terms: presetTerms(preset) };
  return scoreGroup({ taskId: 't', trajectories }, { answer: '7', metadata: {} }, scoring).scored
    .trajectories;
}

describe('stepTokens', () => {
  it('gives algorithms the turns’ rewards, so that CodeDance’s advantages come out', () => {
    const batch = [['fail', 'ok'], ['ok', 'fail'], ['fail', 'fail'], ['ok']];
    const all = scored(
      'codedance',
      batch.map((executions, i) => trajectory(i, executions)),
    );
    const step = stepTokens(
      all.map((one) => ({ trajectory: one, advantage: 0, groupStd: 0, isMasked: false })),
    );
    expect([...step.turnOffsets]).toEqual([0, 3, 6, 9, 11]);
    const advantage = turnReturnsStandardized({ turnDiscount: 0.2, turnWeight: 1 });
    const { advantages } = advantage(step);
    // Returns without last turns −0.5, 0, −0.1, −0.5, −0.6, −0.5, 0: mean −0.3143, std 0.2474.
    const expected = [-0.7506, 1.2702, 0, 0.866, -0.7506, 0, -1.1547, -0.7506, 0, 1.2702, 0];
    expect(advantages.length).toBe(expected.length);
    expected.forEach((value, t) => {
      expect(advantages[t]).toBeCloseTo(value, 4);
    });
  });

  it('punishes the failing turn, also where the failure ends the trajectory', () => {
    const batch: readonly (readonly [readonly string[], boolean])[] = [
      [['ok', 'fail'], false],
      [['fail'], false],
      [['ok'], true],
      [['ok', 'ok'], true],
    ];
    const all = scored(
      'codedance',
      batch.map(([executions, answers], i) => {
        const { turns, segments, answer, ...made } = trajectory(i, executions);
        if (answers) return { ...made, turns, segments, ...(answer && { answer }) };
        const cut = { turns: turns.slice(0, -1), segments: segments.slice(0, -2) };
        return { ...made, ...cut, stopReason: 'invalidAction' as const };
      }),
    );
    const step = stepTokens(
      all.map((one) => ({ trajectory: one, advantage: 0, groupStd: 0, isMasked: false })),
    );
    const { advantages } = turnReturnsStandardized({ turnDiscount: 0.2, turnWeight: 1 })(step);
    // Returns −0.1, −0.5 | −0.5 | 0 | 0, 0: mean −0.1833, std 0.2267.
    const expected = [0.3676, -1.3969, -1.3969, 0.8087, 0, 0.8087, 0.8087, 0];
    expect(advantages.length).toBe(expected.length);
    expected.forEach((value, t) => {
      expect(advantages[t]).toBeCloseTo(value, 3);
    });
  });

  it('leaves turns without reward at 0, and masked trajectories out', () => {
    const all = scored('pyvision', [trajectory(0, ['fail']), trajectory(1, ['ok'])]);
    const step = stepTokens(
      all.map((one, i) => ({ trajectory: one, advantage: 0, groupStd: 0, isMasked: i === 1 })),
    );
    expect([...step.turnRewards]).toEqual([0, 0]);
    expect([...step.turnOffsets]).toEqual([0, 2, 2]);
  });
});

describe('PyVision-RL on a scored group', () => {
  const advantagesOf = (looks: readonly (readonly [number, string])[]) => {
    const made = looks.map(([count, answer], i) => trajectory(i, Array(count).fill('ok'), answer));
    const rewards = Float64Array.from(scored('pyvision', made), ({ reward }) => reward);
    const tokenCounts = made.map(({ turns }) => turns.length);
    return {
      rewards,
      advantages: algorithms.get('pyvision-rl').groupAdvantages({ rewards, tokenCounts }),
    };
  };

  it.each([
    {
      looks: [
        [2, '7'],
        [1, '7'],
        [0, '7'],
        [0, '3'],
        [1, '3'],
        [2, '3'],
        [4, '3'],
        [4, '7'],
      ] as const,
      rewards: [1.2, 1.1, 1, 0, 0, 0, 0, 1.4],
      advantages: [0.6125, 0.5125, 0.4125, -0.5875, -0.5875, -0.5875, -0.5875, 0.8125],
    },
    {
      // All are right, and two of them are pushed down.
      looks: [
        [1, '7'],
        [2, '7'],
        [3, '7'],
        [0, '7'],
      ] as const,
      rewards: [1.1, 1.2, 1.3, 1],
      advantages: [-0.05, 0.05, 0.15, -0.15],
    },
  ])('takes the mean off $rewards', ({ looks, rewards, advantages }) => {
    const given = advantagesOf(looks);
    rewards.forEach((value, i) => {
      expect(given.rewards[i]).toBeCloseTo(value, 12);
      expect(given.advantages[i]).toBeCloseTo(advantages[i] as number, 12);
    });
  });
});
