import { describe, expect, it } from 'vitest';
import { type Audited, type AuditInput, allAudited, type Finding } from './audit.ts';
import { auditedGroup, auditRewards } from './audit-rewards.ts';
import { detectorContract } from './contract.ts';
import { pearson, spearman } from './correlation.ts';
import { detectors, presetTerms } from './registry.ts';
import type { RewardTerm } from './score.ts';
import { scoreGroup } from './score.ts';
import { batchCorrelations, stepCorrelations } from './term-correlations.ts';
import { type Made, type Step, trajectoryOf } from './trajectories.fixture.ts';
import { exact } from './verifiers/exact.ts';

interface Play extends Made {
  readonly steps?: readonly Step[];
}

let made = 0;

/** A group that is scored as a run scores it. */
function groupOf(
  plays: readonly Play[],
  terms: readonly RewardTerm[] = presetTerms('pyvision'),
  metadata: Readonly<Record<string, unknown>> = {},
): readonly Audited[] {
  const taskId = `task-${made++}`;
  const trajectories = plays.map(({ steps = [], ...own }, index) => {
    const trajectory = trajectoryOf(steps, { ...own, id: `t/${index}` });
    return { ...trajectory, taskId, id: `${taskId}/${index}` };
  });
  const task = { answer: '7', metadata };
  return auditedGroup(scoreGroup({ taskId, trajectories }, task, { verifier: exact, terms }));
}

function times<Value>(count: number, make: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function findingOf(name: string, groups: AuditInput['groups'], more = {}): Finding {
  return detectors.get(name).examine({ groups, ...more });
}

const look = (left: number): Step => ({
  code: `image_clue_0.crop((${left}, 10, ${left + 60}, 70)).show()`,
});
const show: Step = { code: 'image_clue_0.show()' };
const right: Play = { steps: [look(10)] };
const wrong: Play = { steps: [look(200)], answer: '3' };

describe.each(detectors.entries())('detector %s', (_, detector) => {
  it.each(detectorContract)('$name', ({ check }) => check(detector));
});

describe('the contract of detectors', () => {
  it('catches one that flags what is not there, changes, or knows no thresholds', () => {
    const [range, purity] = detectorContract;
    const tool = detectors.get('tool-spam');
    const given: Finding = {
      detector: tool.name,
      share: 0.5,
      flagged: ['nobody'],
      isAlarm: false,
      message: 'It says so.',
    };
    expect(() => range?.check({ ...tool, examine: () => given })).toThrow(/flags nobody/);
    let count = 0;
    const examine = () => ({ ...given, flagged: [], share: 0, message: `Call ${count++}.` });
    expect(() => purity?.check({ ...tool, examine })).toThrow(/changes from call to call/);
  });
});

describe('a sound batch', () => {
  it('sets off no detector', () => {
    const groups = times(8, (task) =>
      groupOf(
        times(8, (sample) => ({
          ...(sample % 3 === 0 ? wrong : right),
          steps: [look(10 + 40 * task), ...(sample % 2 === 0 ? [look(60 + 40 * task)] : [])],
          tokensPerTurn: 3 + ((sample * 5 + task) % 7),
        })),
      ),
    );
    const { findings, trajectoryCount } = auditRewards({ groups, terms: presetTerms('pyvision') });
    expect(trajectoryCount).toBe(64);
    expect(findings.map(({ detector }) => detector)).toEqual(detectors.names);
    expect(findings.filter(({ isAlarm }) => isAlarm)).toEqual([]);
    expect(findings.filter(({ share }) => share > 0.2)).toEqual([]);
  });

  it('gives nothing for no trajectories', () => {
    const { findings, correlations } = auditRewards({ groups: [] });
    expect(findings.every(({ share, isAlarm }) => share === 0 && !isAlarm)).toBe(true);
    expect(correlations).toEqual({});
  });
});

describe('constant-term', () => {
  it('names a term that is the same for the whole batch', () => {
    const groups = times(4, () => groupOf([{}, { answer: '3' }]));
    const { share, isAlarm, message } = findingOf('constant-term', groups);
    expect([share, isAlarm]).toEqual([1, true]);
    expect(message).toContain('"accumulative-tool" is the same for all 8');
  });

  it('alarms where a term varies in hardly any group that differs, unless there are few', () => {
    const bonus = (count: number) => times(count, () => groupOf([{}, right]));
    const uniform = groupOf([wrong, wrong]);
    expect(findingOf('constant-term', [...bonus(6), uniform]).isAlarm).toBe(true);
    expect(findingOf('constant-term', [...bonus(3), uniform, uniform]).isAlarm).toBe(false);
  });

  it('names a term that is constant where the group differs, without alarm if it varies elsewhere', () => {
    const bonus = times(2, () => groupOf([{}, right]));
    const both = times(6, () => groupOf([right, wrong]));
    const { share, isAlarm, message } = findingOf('constant-term', [...bonus, ...both]);
    expect([share, isAlarm]).toEqual([4 / 16, false]);
    expect(message).toContain('"accuracy" is constant in 2 of 8 groups');
  });

  it('expects no variance of what weighs nothing, nor of penalties that nobody earns', () => {
    const terms = presetTerms('codevision', { 'emergent-tool': 0 });
    const steps = [look(10)];
    const metadata = { requiredTools: ['crop'], box: [10, 10, 70, 70] };
    const groups = times(8, () =>
      groupOf([{ steps }, { steps: [look(300)], answer: '3' }], terms, metadata),
    );
    const named = /"([\w-]+)"/g;
    const found = (given: object): readonly (string | undefined)[] =>
      [...findingOf('constant-term', groups, given).message.matchAll(named)].map(
        ([, name]) => name,
      );
    expect(found({})).toContain('turn-limit-penalty');
    expect(found({})).toContain('emergent-tool');
    expect(found({ terms })).not.toContain('turn-limit-penalty');
    expect(found({ terms })).not.toContain('emergent-tool');
    expect(found({ terms })).toContain('format-codevision');
  });
});

describe('length', () => {
  const longer: RewardTerm = {
    weight: 0.01,
    reward: {
      name: 'verbosity',
      scope: 'trajectory',
      paper: 'a test',
      range: [0, 1000],
      score: ({ segments }) =>
        segments.reduce((sum, { kind, tokens }) => sum + (kind === 'model' ? tokens.length : 0), 0),
    },
  };
  const plays = times(8, (sample) => ({ ...right, tokensPerTurn: 2 + 3 * sample }));

  it('flags the longer half where a term pays for length, and names the term', () => {
    const terms = [...presetTerms('pyvision'), longer];
    const groups = times(4, () => groupOf(plays, terms));
    const { share, isAlarm, message } = findingOf('length', groups);
    expect([share, isAlarm]).toEqual([0.5, true]);
    expect(message).toContain('r = 1.00, most by "verbosity"');
  });

  it('does not count what verdict and calls explain', () => {
    const mixed = times(8, (sample) => ({
      ...(sample % 2 === 0 ? wrong : right),
      steps: times(sample % 4, (index) => look(10 + 20 * index)),
      tokensPerTurn: sample % 2 === 0 ? 2 : 20,
    }));
    const { share, isAlarm } = findingOf(
      'length',
      times(8, () => groupOf(mixed)),
    );
    expect([share, isAlarm]).toEqual([0, false]);
  });

  it('sees answers grow over steps, unless more of them become right', () => {
    const grow = (gain: number) =>
      times(12, (step) => ({ step, meanLength: 10 + 2 * step, accuracy: 0.5 + gain * step }));
    const groups = times(4, () => groupOf(plays));
    const found = findingOf('length', groups, { steps: grow(0) });
    expect(found.isAlarm).toBe(true);
    expect(found.message).toContain('from 12 to 30 tokens');
    // 1.5 · 12 = 18 tokens: two turns of at least 11 and up, that is five of eight plays.
    expect(found.share).toBe(5 / 8);
    expect(findingOf('length', groups, { steps: grow(0.02) }).isAlarm).toBe(false);
  });
});

describe('format', () => {
  it('flags wrong answers that are paid for form, with alarm where that is much of the pay', () => {
    const terms = presetTerms('codevision');
    const groups = times(4, () => groupOf([{}, { answer: '3' }, { answer: '4' }], terms));
    const found = findingOf('format', groups);
    expect([found.share, found.isAlarm]).toEqual([8 / 12, false]);
    // 2 · 0.1 of 1.1 + 0.1 + 0.1.
    expect(found.message).toContain('15.4 % of all that is paid');
    const mostly = times(4, () =>
      groupOf(
        times(4, () => ({ answer: '3' })),
        terms,
      ),
    );
    expect(findingOf('format', mostly).isAlarm).toBe(true);
    const plain = times(4, () =>
      groupOf([{ answer: '3', answerText: '<answer>3</answer>' }], terms),
    );
    expect(findingOf('format', plain).share).toBe(0);
  });
});

describe('tool-spam', () => {
  it('flags three calls of which two add nothing: shown again, cropped again, said, or the same', () => {
    const again: Step = { code: 'image_clue_0.crop((11, 10, 70, 70)).show()' };
    const talk: Step = { code: 'print("I see a card")' };
    const enhance: Step = { code: 'image_clue_0.rotate(90).show()' };
    const spam = [
      [look(10), show, show],
      [look(10), again, show],
      [enhance, talk, { code: 'text = "a card"\nprint(f"I see {text}")' }],
      [enhance, { code: `${enhance.code}\n` }, { code: ` ${enhance.code}`.trim() }],
    ];
    const fine = [
      [look(10), look(100), show],
      [show, show],
      [{ code: 'print(image_clue_0.size)' }, look(10), { code: 'print(2 + 3)' }],
      [],
    ];
    const groups = [...spam, ...fine].map((steps) => groupOf([{ steps }]));
    const { flagged, isAlarm } = findingOf('tool-spam', groups);
    const spamIds = groups.slice(0, 4).map(([audited]) => audited?.trajectory.id);
    expect(flagged).toEqual(spamIds);
    expect(isAlarm).toBe(true);
    const lenient = detectors.get('tool-spam').with({ alarmShare: 0.9 });
    expect(lenient.examine({ groups }).isAlarm).toBe(false);
  });
});

describe('print-only', () => {
  it('flags code that talks, not code that computes or looks', () => {
    const talking = [
      'print("It is a seven.")',
      '# I think it is a seven\nanswer = "7"\nprint("Answer:", answer, "-" * 10)',
      'import numpy as np\nbox = (1, 2, 3, 4)\nprint(f"The box is {box}")',
      '"""A docstring."""',
    ];
    const working = [
      'print(2 + 3)',
      'print(image_clue_0.size)',
      'box = (1, 2, 30, 40)',
      'for i in range(3):\n    print(i)',
      'print("x"',
      look(10).code,
    ];
    const groups = [...talking, ...working].map((code) => groupOf([{ steps: [{ code }] }]));
    const ids = groups.map(([audited]) => audited?.trajectory.id);
    expect(findingOf('print-only', groups).flagged).toEqual(ids.slice(0, 4));
    const once = groupOf([{ steps: [{ code: talking[0] ?? '' }, look(10), look(90)] }]);
    expect(findingOf('print-only', [once]).share).toBe(0);
  });
});

describe('identical-crops', () => {
  it('flags the same box three times, not twice, nor boxes that differ', () => {
    const three = groupOf([{ steps: [look(10), look(11), look(10)] }]);
    const two = groupOf([{ steps: [look(10), look(11), look(200)] }]);
    const none = groupOf([{ steps: [look(10), look(100), look(200)] }]);
    const { flagged } = findingOf('identical-crops', [three, two, none]);
    expect(flagged).toEqual([three[0]?.trajectory.id]);
  });

  it('flags one box on most of the tasks', () => {
    const same = times(10, () => groupOf([{ steps: [look(290)] }]));
    const other = times(4, (index) => groupOf([{ steps: [look(10 + 50 * index)] }]));
    const found = findingOf('identical-crops', [...same, ...other]);
    expect([found.share, found.isAlarm]).toEqual([10 / 14, true]);
    expect(found.message).toContain('10 of 14 first crops');
    const ofOneTask = [groupOf(times(10, () => ({ steps: [look(290)] }))), ...other];
    expect(findingOf('identical-crops', ofOneTask).share).toBe(0);
  });
});

describe('needless-turns', () => {
  const turn: Step = { code: 'turned = image_clue_0.rotate(90, expand=True)\nturned.show()' };
  const back: Step = { code: 'turned.transpose(Image.ROTATE_270).show()' };
  const on: Step = { code: 'turned.rotate(90, expand=True).show()' };
  const nothing: Step = { code: 'image_clue_0.rotate(0).show()' };
  const tilt: Step = { code: 'image_clue_0.rotate(7).rotate(-7).show()' };
  const another: Step = { code: 'image_clue_0.transpose(Image.ROTATE_180).show()' };
  const flagged = (steps: readonly Step[], metadata: Readonly<Record<string, unknown>>): boolean =>
    findingOf('needless-turns', [groupOf([{ steps }], presetTerms('pyvision'), metadata)]).share ===
    1;

  it('flags any turn where the task requires none', () => {
    expect(flagged([turn], { requiredTools: [] })).toBe(true);
    expect(flagged([turn], { requiredTools: ['crop'] })).toBe(true);
    expect(flagged([turn], { toCanonical: [1, 0, 0, 0, 1, 0] })).toBe(true);
    expect(flagged([turn], { requiredTools: ['rotate_90', 'crop'] })).toBe(false);
    expect(flagged([turn], { toCanonical: [0, -1, 640, 1, 0, 0] })).toBe(false);
    expect(flagged([look(10)], { requiredTools: [] })).toBe(false);
  });

  it('flags turns forth and back and by nothing whatever the task says', () => {
    for (const metadata of [{}, { requiredTools: ['rotate_90'] }]) {
      expect(flagged([turn, back], metadata)).toBe(true);
      expect(flagged([nothing], metadata)).toBe(true);
      expect(flagged([tilt], metadata)).toBe(true);
      expect(flagged([turn, on], metadata)).toBe(false);
      expect(flagged([turn, another], metadata)).toBe(false);
    }
  });
});

describe('correlations', () => {
  it('are those of numpy, and absent where a side does not vary', () => {
    // numpy.corrcoef, of the numbers and of their ranks.
    const [xs, ys] = [
      [1, 2, 2, 4, 5, 7],
      [0.5, 1, 0.7, 1.5, 1.4, 1.6],
    ];
    expect(pearson(xs, ys)).toBeCloseTo(0.9080628444, 9);
    expect(spearman(xs, ys)).toBeCloseTo(0.927633657, 9);
    expect(pearson([1, 1, 1], [1, 2, 3])).toBeUndefined();
    expect(pearson([0.1 + 0.2, 0.3, 0.3], [1, 2, 3])).toBeUndefined();
    expect(pearson([1], [2])).toBeUndefined();
  });

  it('of terms with the verdict are point-biserial, and absent for a constant term', () => {
    const terms = presetTerms('codevision');
    const groups = times(4, () => groupOf([right, wrong, { answer: '3' }], terms));
    const known = batchCorrelations({ groups });
    expect(known.accuracy).toBeCloseTo(1, 12);
    expect(Object.keys(known)).not.toContain('must-use-tools');
    const values = allAudited({ groups }).map(
      ({ trajectory }) => trajectory.rewardTerms['format-codevision'] ?? 0,
    );
    expect(new Set(values).size).toBe(1);
    expect(Object.keys(known)).not.toContain('format-codevision');
  });

  it('over steps need three of them, and count those that have the term', () => {
    const steps = [0.1, 0.2, 0.4, 0.5].map((accuracy, index) => ({
      accuracy,
      terms: { bonus: 1 - accuracy, dead: 0, ...(index > 1 && { late: index }) },
    }));
    const known = stepCorrelations(steps);
    expect(Object.keys(known)).toEqual(['bonus']);
    expect(known.bonus?.correlation).toBeCloseTo(-1, 12);
    expect(known.bonus?.count).toBe(4);
  });
});

describe('scored groups', () => {
  it('bring their analysis along: code is followed once for rewards and audit', () => {
    const group = groupOf([right], presetTerms('codevision'), { requiredTools: ['crop'] });
    const [audited] = group;
    expect(audited?.context.toolUses).toBe(audited?.context.toolUses);
  });
});
