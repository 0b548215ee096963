/**
 * The contracts of rewards, verifiers and detectors, as plain checks. Each throws an Error that
 * says what is broken.
 */

import { analyzeTrajectory } from '@saccade/code-effects';
import {
  type Action,
  isToolUse,
  type ToolResult,
  type Trajectory,
  TrajectoryBuilder,
  type TrajectoryImage,
} from '@saccade/trajectory';
import type { Audited, Detector, Finding } from './audit.ts';
import type { AnyReward, RewardContext, Verifier } from './reward.ts';

/** One check of `rewardContract`, for any test runner. */
export interface RewardCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(reward: AnyReward): void;
}

/** One check of `verifierContract`, for any test runner. */
export interface VerifierCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(verifier: Verifier): void;
}

/** One check of `detectorContract`, for any test runner. */
export interface DetectorCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(detector: Detector): void;
}

/**
 * The checks that every reward must pass, over generated trajectories: its values stay in `range`,
 * and scoring is pure.
 */
export const rewardContract: readonly RewardCheck[] = [
  { name: 'stays within its range', check: checkRange },
  { name: 'gives the same for the same trajectory, and does not change it', check: checkPurity },
  { name: 'says where it comes from', check: checkProvenance },
  { name: 'can be made with other constants, if it has any', check: checkConstants },
];

/**
 * The checks that every verifier must pass: a score from 0 to 1 for any text, and 1 for the
 * expected answer itself.
 */
export const verifierContract: readonly VerifierCheck[] = [
  { name: 'gives a number from 0 to 1 for any text', check: checkVerifierRange },
  { name: 'says where its definition comes from', check: checkDefinition },
  {
    name: 'accepts what it reads as the answer to itself, with space around it',
    check: checkItself,
  },
  { name: 'refuses another answer, and an empty one', check: checkOthers },
];

/**
 * The checks that every detector must pass: it flags only trajectories that it was given, and
 * gives the same findings in any order of groups.
 */
export const detectorContract: readonly DetectorCheck[] = [
  { name: 'flags only what it was given, and says so in a sentence', check: checkFindings },
  { name: 'finds the same again, in any order of groups, and changes nothing', check: checkPure },
  { name: 'says where it comes from and when it is an alarm', check: checkSources },
  { name: 'takes other thresholds, and none that it does not know', check: checkThresholds },
];

const code: Action = {
  kind: 'code',
  code: 'turned = image_clue_0.rotate(90, expand=True)\nturned.crop((10, 10, 60, 60)).show()',
};
const image: TrajectoryImage = {
  name: 'image_clue_0',
  png: new Uint8Array(0),
  width: 100,
  height: 80,
  modelWidth: 28,
  modelHeight: 28,
  tokenCount: 1,
};
const ran: ToolResult = { kind: 'ok', stdout: '', stderr: '', imageCount: 0, wallMs: 1 };
const raised: ToolResult = { ...ran, kind: 'exception', errorType: 'ValueError' };

/** A trajectory of the given turns; the last decides how it ends. */
function trajectoryOf(
  turns: readonly (readonly [Action, ToolResult?])[],
  index: number,
): Trajectory {
  const made = new TrajectoryBuilder({
    id: `contract/${index}`,
    taskId: 'contract',
    sampleIndex: index,
  });
  made.prompt({ tokens: Int32Array.of(1), images: [image], text: 'question' });
  turns.forEach(([action, result], turn) => {
    if (turn > 0) made.observation({ tokens: Int32Array.of(2), images: [], text: 'seen' });
    const text = action.kind === 'answer' ? `<answer>${action.answer}</answer>` : 'code';
    const logprobs = Float32Array.of(-1);
    made.model({ tokens: Int32Array.of(3), logprobs, text, policyVersion: 0 });
    made.turn(action, result);
  });
  const last = turns.at(-1)?.[0].kind;
  if (last === 'answer') return made.finish('answered');
  return made.finish(last === 'invalid' ? 'invalidAction' : 'turnLimit');
}

/** Trajectories of every shape a reward may meet. */
export function contractTrajectories(): readonly Trajectory[] {
  const shapes: (readonly [Action, ToolResult?])[][] = [
    [[{ kind: 'answer', answer: '7' }]],
    [[code, ran], [{ kind: 'answer', answer: '7' }]],
    [[code, ran], [code, ran], [code, ran], [code, ran], [{ kind: 'answer', answer: '7' }]],
    [[code, raised], [{ kind: 'answer', answer: '' }]],
    [[code, raised], [code, ran], [{ kind: 'answer', answer: '3' }]],
    [[code, ran], [{ kind: 'invalid', reason: 'noCodeNorAnswer' }]],
    [[code, ran], [code]],
    [
      [code, ran],
      [code, ran],
    ],
  ];
  return shapes.map(trajectoryOf);
}

/** Right and wrong, with and without facts about the task; judges have spoken. */
function contextsFor(trajectory: Trajectory): readonly RewardContext[] {
  const facts: readonly RewardContext['metadata'][] = [
    {},
    { requiredTools: [], needsSearch: false },
    { requiredTools: ['rotate_90', 'crop'], box: [10, 10, 60, 60] },
  ];
  const calls = trajectory.turns.filter(({ action }) => isToolUse(action));
  const toolUses = analyzeTrajectory(trajectory);
  return [true, false].flatMap((isCorrect) =>
    facts.map((metadata): RewardContext => {
      const context: RewardContext = {
        answer: '7',
        metadata,
        isCorrect,
        verdictScore: isCorrect ? 1 : 0,
        toolUses,
        stepScores: calls.map((_, step) => (step % 2 === 0 ? 1 : 0.25)),
        judgeScores: { process: 0.75, consistency: 0.5 },
        termValue: (reward) => reward.score(trajectory, context),
      };
      return context;
    }),
  );
}

/** Everything a reward gives for the contract's trajectories. */
function valuesOf(reward: AnyReward): readonly number[] {
  const trajectories = contractTrajectories();
  if (reward.scope === 'group') {
    const all = trajectories.map(contextsFor);
    return (all[0] ?? []).flatMap((_, which) => {
      const contexts = all.map((own) => own[which] as RewardContext);
      const values = reward.score({ taskId: 'contract', trajectories }, contexts);
      expectCount(reward.name, values.length, trajectories.length, 'trajectories');
      return values;
    });
  }
  return trajectories.flatMap((one) =>
    contextsFor(one).flatMap((context): readonly number[] => {
      if (reward.scope === 'trajectory') return [reward.score(one, context)];
      const values = reward.score(one, context);
      expectCount(reward.name, values.length, one.turns.length, 'turns');
      return values;
    }),
  );
}

function expectCount(name: string, got: number, expected: number, what: string): void {
  if (got !== expected) throw new Error(`${name} gave ${got} numbers for ${expected} ${what}.`);
}

function checkRange(reward: AnyReward): void {
  const [low, high] = reward.range;
  if (!(low < high)) throw new Error(`${reward.name} has the empty range [${low}, ${high}].`);
  for (const value of valuesOf(reward)) {
    if (!Number.isFinite(value) || value < low || value > high) {
      throw new Error(`${reward.name} gave ${value}, outside of its range [${low}, ${high}].`);
    }
  }
}

function checkPurity(reward: AnyReward): void {
  const [first, second] = [valuesOf(reward), valuesOf(reward)];
  if (first.join() !== second.join()) throw new Error(`${reward.name} changes from call to call.`);
  if (reward.scope !== 'trajectory') return;
  for (const trajectory of contractTrajectories()) {
    const before = JSON.stringify(trajectory);
    for (const context of contextsFor(trajectory)) reward.score(trajectory, context);
    if (JSON.stringify(trajectory) !== before)
      throw new Error(`${reward.name} changes a trajectory.`);
  }
}

function checkProvenance(reward: AnyReward): void {
  if (reward.paper.trim() === '') throw new Error(`${reward.name} names no paper.`);
}

function checkConstants(reward: AnyReward): void {
  const { constants, name } = reward;
  if (constants === undefined || Object.keys(constants).length === 0) return;
  if (reward.with === undefined) throw new Error(`${name} has constants, but no with().`);
  const same = reward.with({});
  if (JSON.stringify(same.constants) !== JSON.stringify(constants) || same.name !== name) {
    throw new Error(`${name} is another reward with its own constants.`);
  }
}

const anyText = [
  '',
  ' ',
  '7',
  'seven',
  '\\boxed{7}',
  '-',
  '.',
  'NaN',
  '1e999',
  '\ud800',
  '7'.repeat(5000),
];

function checkVerifierRange(verifier: Verifier): void {
  for (const answer of anyText) {
    for (const expected of anyText) {
      const score = verifier.verify(answer, expected);
      if (!(score >= 0 && score <= 1)) {
        throw new Error(`${verifier.name} gave ${score} for "${answer}" and "${expected}".`);
      }
    }
  }
}

function checkDefinition(verifier: Verifier): void {
  if ((verifier.paper ?? '').trim() === '') throw new Error(`${verifier.name} names no source.`);
}

function checkItself(verifier: Verifier): void {
  const pairs =
    verifier.example === undefined
      ? [
          ['7', '7'],
          [' 7\n', '7'],
          ['42', ' 42'],
        ]
      : [
          [verifier.example, verifier.example],
          [` ${verifier.example}\n`, verifier.example],
        ];
  for (const [answer = '', expected = ''] of pairs) {
    if (verifier.verify(answer, expected) !== 1) {
      throw new Error(`${verifier.name} does not accept "${answer}" for "${expected}".`);
    }
  }
}

function checkOthers(verifier: Verifier): void {
  const { example = '7' } = verifier;
  for (const answer of ['1', '77', '', ' ', '-7']) {
    if (verifier.verify(answer, example) >= 0.5) {
      throw new Error(`${verifier.name} accepts "${answer}" for "${example}".`);
    }
  }
}

/** The contract's trajectories, scored in several ways, one group each; and no group at all. */
function auditInputs(): readonly (readonly (readonly Audited[])[])[] {
  const terms = [
    { accuracy: 1, 'format-own': 0.1 },
    { accuracy: 0, 'format-own': 0.1, dead: 0 },
    { accuracy: 0, penalty: -1 },
  ];
  const known = contractTrajectories().map((one) => [one, contextsFor(one)] as const);
  const groups = terms.map((rewardTerms): readonly Audited[] =>
    known.flatMap(([trajectory, contexts]) =>
      contexts.map((context, index): Audited => {
        const { isCorrect } = context;
        const reward = Object.values(rewardTerms).reduce((sum, value) => sum + value, index / 8);
        const all = { ...rewardTerms, own: index / 8 };
        const id = `${trajectory.id}/${index}/${Object.keys(rewardTerms).join()}`;
        return { trajectory: { ...trajectory, id, reward, rewardTerms: all, isCorrect }, context };
      }),
    ),
  );
  return [groups, groups.slice(0, 1), [[]], []];
}

function checkFindings(detector: Detector): void {
  for (const groups of auditInputs()) {
    const { share, flagged, message, detector: name, isAlarm } = detector.examine({ groups });
    const ids = new Set(groups.flat().map(({ trajectory }) => trajectory.id));
    const stranger = flagged.find((id) => !ids.has(id));
    if (stranger !== undefined) throw new Error(`${detector.name} flags ${stranger}, not given.`);
    if (new Set(flagged).size < flagged.length) throw new Error(`${detector.name} flags twice.`);
    const expected = ids.size === 0 ? 0 : flagged.length / ids.size;
    if (Math.abs(share - expected) > 1e-12) {
      throw new Error(
        `${detector.name} gives a share of ${share}, of which ${expected} is flagged.`,
      );
    }
    if (ids.size === 0 && isAlarm) throw new Error(`${detector.name} alarms about nothing.`);
    if (name !== detector.name) throw new Error(`${detector.name} calls itself ${name}.`);
    if (!/^[A-Z"\d][^\n]+\.$/.test(message)) throw new Error(`"${message}" is no sentence.`);
  }
}

function checkPure(detector: Detector): void {
  const written = ({ flagged, ...finding }: Finding): string =>
    JSON.stringify({ ...finding, flagged: [...flagged].sort() });
  for (const groups of auditInputs()) {
    const before = JSON.stringify(groups);
    const first = written(detector.examine({ groups }));
    if (written(detector.examine({ groups })) !== first) {
      throw new Error(`${detector.name} changes from call to call.`);
    }
    const turned = [...groups].reverse();
    const { flagged } = detector.examine({ groups: turned });
    if ([...flagged].sort().join() !== [...detector.examine({ groups }).flagged].sort().join()) {
      throw new Error(`${detector.name} depends on the order of groups.`);
    }
    if (JSON.stringify(groups) !== before) {
      throw new Error(`${detector.name} changes a trajectory.`);
    }
  }
}

function checkSources({ name, paper, description, alarm, constants }: Detector): void {
  for (const [what, text] of Object.entries({ paper, description, alarm })) {
    if (text.trim() === '') throw new Error(`${name} has no ${what}.`);
  }
  if (!/^[a-z]+(-[a-z]+)*$/.test(name)) throw new Error(`${name} is not in kebab-case.`);
  for (const [key, { value }] of Object.entries(constants)) {
    if (typeof value !== 'number') throw new Error(`${name}.${key} is no number.`);
  }
}

function checkThresholds(detector: Detector): void {
  const { constants } = detector;
  for (const key of Object.keys(constants)) {
    if (detector.with({ [key]: 0.125 }).constants[key]?.value !== 0.125) {
      throw new Error(`${detector.name} does not take ${key}.`);
    }
  }
  for (const given of [{ noSuchThreshold: 1 }, { [Object.keys(constants)[0] ?? '']: Number.NaN }]) {
    let isRefused = false;
    try {
      detector.with(given);
    } catch {
      isRefused = true;
    }
    if (!isRefused) throw new Error(`${detector.name} takes ${JSON.stringify(given)}.`);
  }
}
