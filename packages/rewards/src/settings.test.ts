/** Settings of terms, verifiers and presets: every one does something, none is copied elsewhere. */
import { ConfigError } from '@saccade/core';
import { listSettings } from '@saccade/core/settings';
import type { Trajectory } from '@saccade/trajectory';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeTerms } from './change-terms.ts';
import { presets, presetTerms, rewards, verifiers } from './registry.ts';
import { type RewardTerm, scoreGroup } from './score.ts';
import { raised, type Step, trajectoryOf } from './trajectories.fixture.ts';
import { exact } from './verifiers/exact.ts';

const vistaSays = (thought: string, answer = '7') => ({
  answer,
  answerText: `<think> ${thought} </think><answer>${answer}</answer>`,
});

const words = (count: number, word: string): string => Array(count).fill(word).join(' ');
const clause = (n: number): string => `the red car ${words(n, 'stops')} near a big house`;
const crop = (l: number, t: number, r: number, b: number): Step => ({
  code: `image_clue_0.crop((${l}, ${t}, ${r}, ${b})).show()`,
});
const turn: Step = { code: 'r = image_clue_0.rotate(90, expand=True)' };
const blur: Step = {
  code: 'from PIL import ImageFilter\nimage_clue_0.filter(ImageFilter.BLUR).show()',
};
const idle: Step = { code: '# nothing' };
const fails: Step = { code: 'image_clue_0.rotate(180)\n1 / 0', result: raised };

/** Trajectories of many kinds; every setting matters to one of them. */
const corpus: readonly Trajectory[] = [
  ...[0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 41, 80].flatMap((count) => [
    trajectoryOf([], vistaSays(words(count, 'again'))),
    trajectoryOf([], vistaSays('x'.repeat(6 * count))),
    trajectoryOf([], vistaSays('!'.repeat(7 * count))),
    trajectoryOf([], vistaSays(words(count, 'a cat sat'))),
    trajectoryOf([], vistaSays(words(Math.min(count, 6), clause(1)))),
    trajectoryOf(
      [],
      vistaSays(
        `${words(count, 'one two three')} ${Array.from({ length: 90 }, (_, i) => `w${i}`).join(' ')}`,
      ),
    ),
  ]),
  trajectoryOf([], { answerText: '<answer>7</answer>' }),
  trajectoryOf([], { ...vistaSays('so', '3') }),
  trajectoryOf([], {
    answer: 'a'.repeat(1200),
    answerText: `<think>.</think><answer>${'a'.repeat(1200)}</answer>`,
  }),
  ...[1, 500, 2000, 4000].map((tokensPerTurn) =>
    trajectoryOf(Array(6).fill(blur), { tokensPerTurn }),
  ),
  ...[[], [turn], [turn, turn], [idle], [idle, blur], [fails], [fails, fails], [blur]].flatMap(
    (steps) => [trajectoryOf(steps), trajectoryOf(steps, { answer: '3' })],
  ),
  ...[1, 2, 3, 4, 5, 6].map((count) => trajectoryOf(Array(count).fill(blur))),
  ...[20, 60, 200, 400].map((side) => trajectoryOf([crop(0, 0, side, side)])),
  ...[300, 380, 399].map((bottom) => trajectoryOf([crop(0, 0, 640, bottom)])),
  trajectoryOf([crop(0, 0, 100, 100), crop(0, 0, 100, 97)]),
  trajectoryOf([crop(0, 0, 100, 100), crop(0, 0, 100, 80)]),
  trajectoryOf([turn, { code: 'r.crop((100, 100, 200, 200)).show()' }]),
  trajectoryOf([{ code: 'image_clue_0.rotate(90, expand=True).crop((0, 540, 100, 640)).show()' }]),
  trajectoryOf([crop(0, 0, 100, 100), turn]),
].map((one, index) => ({ ...one, id: `t/${index}` }));

const facts: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { needsSearch: false },
  { requiredTools: [] },
  { requiredTools: ['crop'], box: [0, 0, 100, 100] },
  { requiredTools: ['rotate_90'] },
  { requiredTools: ['rotate_90', 'crop'], box: [0, 0, 100, 100] },
];

/** The scores that a reward gives the corpus under every task: terms by trajectory, as text. */
function outcome(terms: readonly RewardTerm[], trajectories = corpus): string {
  const judged = new Map(
    trajectories.map(({ id, turns }) => [
      id,
      { stepScores: turns.map(() => 0.25), judgeScores: { process: 0.75, consistency: 0.5 } },
    ]),
  );
  const scoring = { verifier: exact, terms };
  return facts
    .flatMap((metadata) => {
      // Groups of mixed quality, and one of right answers with a tool against wrong ones without.
      const groups = [trajectories, trajectories.slice(0, 3), trajectories.slice(-6)];
      return groups.map((group) => {
        const task = { answer: '7', metadata };
        const all = { taskId: 't', trajectories: group };
        const { scored, failed } = scoreGroup(all, task, scoring, judged);
        expect(failed).toEqual([]);
        return JSON.stringify(
          scored.trajectories.map(({ reward, rewardTerms, turnRewards }) => [
            reward,
            rewardTerms,
            turnRewards,
          ]),
        );
      });
    })
    .join();
}

const alternatives = (range: string, value: unknown): readonly unknown[] => {
  if (typeof value === 'boolean') return [!value];
  if (range.startsWith('one of ')) {
    return range
      .slice(7)
      .split(', ')
      .filter((word) => word !== value);
  }
  const now = value as number;
  const [low = 0, high = 0] = /\[(.*), (.*)\]/.exec(range)?.slice(1).map(Number) ?? [];
  return [now + 1, now - 1, now * 2, Math.floor(now / 2), 1, 2, now + 0.3, now - 0.3, now / 2, high]
    .filter((other) => other !== now && other >= low && other <= high)
    .filter((other) => !range.startsWith('an integer') || Number.isInteger(other));
};

/**
 * Settings that no trajectory above tells apart: they need a group of another make-up, or another
 * setting beside them (`exact-order` without an order reads neither `leastIou` nor `frame`).
 */
const WITHOUT_WITNESS =
  /suggested-tool|isCounted|exact-order\.(leastIou|frame)|repetition\.\w*(Share|Cover|Copies)|fullBelow/;

describe.each(presets.entries().filter(([name]) => !name.includes('/')))(
  'preset %s',
  (name, preset) => {
    const before = outcome(presetTerms(name));

    const told = listSettings(preset.settings).filter(({ path }) => !WITHOUT_WITNESS.test(path));

    it.each(told.map((field) => [field.path, field] as const))(
      'has a setting %s that changes what it gives',
      (path, { range, default: value }) => {
        const [term = '', setting = ''] = path.split('.');
        const isLive = alternatives(range, value).some((other) => {
          try {
            return outcome(presetTerms(name, { [term]: { [setting]: other } })) !== before;
          } catch (error) {
            // Settings that go together refuse some values.
            if (error instanceof ConfigError) return false;
            throw error;
          }
        });
        expect(isLive, `${path} does nothing`).toBe(true);
      },
    );

    it('gives the same with its own settings written out', () => {
      const written: Record<string, Record<string, unknown>> = {};
      for (const { path, default: value } of listSettings(preset.settings)) {
        const [term = '', setting = ''] = path.split('.');
        written[term] = { ...written[term], [setting]: value };
      }
      expect(outcome(presetTerms(name, written))).toBe(before);
    });
  },
);

describe('VISTA’s repetition', () => {
  const changed = (value: number) =>
    changeTerms(presetTerms('vista'), [{ term: 'repetition', constant: 'moderateWords', value }]);
  const rewardOf = (terms: readonly RewardTerm[], count: number): number | undefined => {
    const group = {
      taskId: 't',
      trajectories: [trajectoryOf([], vistaSays(words(count, 'again')))],
    };
    const { scored } = scoreGroup(group, { answer: '7', metadata: {} }, { verifier: exact, terms });
    return scored.trajectories[0]?.reward;
  };

  it('decides alone by the thresholds that the reward has', () => {
    expect(rewardOf(presetTerms('vista'), 4)).toBe(2);
    expect(rewardOf(changed(3), 4)).toBe(-1.5);
    expect(rewardOf(presetTerms('vista'), 8)).toBe(-1.5);
    expect(rewardOf(changed(20), 8)).toBe(2);
  });

  it('silences the other terms exactly where it speaks, whatever its settings', () => {
    const fields = listSettings(rewards.get('repetition').settings);
    const settings = fc.record(
      Object.fromEntries(
        fields
          .filter(({ path }) => /Words|Characters|Phrases|Cover|Punctuation/.test(path))
          .map(({ path }) => [path, fc.integer({ min: 1, max: 60 })]),
      ),
    );
    fc.assert(
      fc.property(settings, (repetition) => {
        const terms = presetTerms('vista', { repetition });
        const group = { taskId: 't', trajectories: corpus.slice(0, 78) };
        const task = { answer: '7', metadata: {} };
        const { scored } = scoreGroup(group, task, { verifier: exact, terms });
        for (const { rewardTerms } of scored.trajectories) {
          const spoke = (rewardTerms.repetition ?? 0) < 0;
          expect(rewardTerms['vista-format'] === 0).toBe(spoke);
          if (spoke) expect(rewardTerms['vista-correctness']).toBe(0);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('settings', () => {
  it('of every unit have a meaning, a unit and a default in range', () => {
    const units = [...rewards.entries(), ...verifiers.entries(), ...presets.entries()];
    for (const [, unit] of units) {
      expect(unit.description).not.toBe('');
      for (const field of listSettings(unit.settings)) {
        expect(field.about, `${unit.name}.${field.path}`).toMatch(/\.$/);
        expect(field.unit).not.toBe('');
      }
    }
  });

  it('that do not exist, or do not fit, are refused by name', () => {
    expect(() => presetTerms('vista', { repetition: { moderateWord: 3 } })).toThrow(
      /no setting reward.repetition.moderateWord. Did you mean .*moderateWords/,
    );
    expect(() => presetTerms('vista', { repetition: { moderateWords: 0 } })).toThrow(
      /reward.repetition.moderateWords: expected an integer in \[1, /,
    );
    expect(() => verifiers.get('mra').with({ lowestPercent: 96 })).toThrow(ConfigError);
  });
});
