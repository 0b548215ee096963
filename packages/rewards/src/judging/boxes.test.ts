import { describe, expect, it } from 'vitest';
import { judgeGroup, missingInputs } from '../judge-group.ts';
import { presetTerms } from '../registry.ts';
import { scoreGroup } from '../score.ts';
import { raised, type Step, trajectoryOf } from '../trajectories.fixture.ts';
import { exact } from '../verifiers/exact.ts';
import { boxes } from './boxes.ts';

const judges = boxes.open(boxes.settings.parse({}), {
  directory: '.',
  secret: () => expect.unreachable('rules have no secrets'),
});

/** A card of 20 × 20 pixels at 100, 100. */
const task = { answer: '7', question: 'Which digit?', metadata: { box: [100, 100, 120, 120] } };
const crop = (box: string): Step => ({ code: `image_clue_0.crop((${box})).show()` });
const failed = { ...raised, imageCount: 0 };
const onCard = crop('100,100,120,120');

async function terms(preset: string, steps: readonly Step[], given = task, answer = '7') {
  const group = { taskId: 't', trajectories: [trajectoryOf(steps, { answer })] };
  const scoring = { verifier: exact, terms: presetTerms(preset) };
  const { judged } = await judgeGroup(group, given, scoring, judges);
  const { scored, failed } = scoreGroup(group, given, scoring, judged);
  return { terms: scored.trajectories[0]?.rewardTerms, failure: failed[0]?.failure };
}

describe('judge boxes', () => {
  it.each([
    ['a crop of the box', [onCard], 1],
    ['one that misses', [crop('0,0,20,20')], 0.25],
    ['one with the box among much else', [crop('60,60,160,160')], 0.5],
    ['one that cuts the box off', [crop('112,100,160,120')], 0.5],
    ['code that raised, without an image', [{ ...onCard, result: failed }], 0],
    ['a miss, then a hit', [crop('0,0,20,20'), onCard], (0.25 + 1) / 2],
    [
      'two crops in one execution, by the better',
      [{ code: `${crop('0,0,9,9').code}\n${onCard.code}` }],
      1,
    ],
  ])('grades %s', async (_, steps, grade) => {
    expect((await terms('codev', steps)).terms?.evidence).toBeCloseTo(0.5 * grade, 12);
  });

  it('follows a crop of a turned image back to the upright one', async () => {
    // The given image is the upright one turned by half: the card lies at 520, 280 of 640 × 400.
    const metadata = { ...task.metadata, toCanonical: [-1, 0, 640, 0, -1, 400] };
    const given = { ...task, metadata };
    expect((await terms('codev', [crop('520,280,540,300')], given)).terms?.evidence).toBe(0.5);
    expect((await terms('codev', [onCard], given)).terms?.evidence).toBe(0.125);
  });

  it('calls an answer consistent that directly follows a look, wherever it went', async () => {
    const consistency = async (steps: readonly Step[], answer = '7') =>
      (await terms('codev-consistency', steps, task, answer)).terms?.['judged-consistency'];
    expect(await consistency([crop('0,0,9,9')])).toBe(0.5);
    expect(await consistency([onCard], '3')).toBe(0.5);
    expect(await consistency([])).toBe(0);
    expect(await consistency([onCard, { ...onCard, result: failed }])).toBe(0);
  });

  it('fails a trajectory whose task has no box, and grades none that needs no search', async () => {
    const without = await terms('codev', [onCard], { ...task, metadata: {} as never });
    expect(without.failure?.message).toMatch(/no metadata.box to grade crops by/);
    const metadata = { ...task.metadata, needsSearch: false };
    expect((await terms('codev', [onCard], { ...task, metadata })).terms?.evidence).toBe(0);
  });

  it('says what it cannot give before anything runs', () => {
    expect(missingInputs(judges, ['stepScores', 'judgeScores.consistency'])).toEqual([]);
    expect(missingInputs(judges, ['judgeScores.process'])).toEqual(['judgeScores.process']);
  });
});
