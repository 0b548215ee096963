import { exact, makeContext, type ScoredGroupResult } from '@saccade/rewards';
import {
  type Action,
  type ScoredTrajectory,
  type ToolResult,
  TrajectoryBuilder,
} from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { errorMetrics, isUndecided, tagErrors } from './error-taxonomy.ts';

/** As runs have it. */
const options = { shownShare: 0.5 };

type Metadata = Readonly<Record<string, unknown>>;
type Step = readonly [Action, Partial<ToolResult>?];

/** A card at 10, 20 of 100 × 100 pixels; a crop is all it takes. */
const upright: Metadata = { requiredTools: ['crop'], box: [10, 20, 30, 40] };

const call = (name: string, given: Metadata = {}): Action => ({
  kind: 'toolCall',
  name,
  arguments: given,
});
const code = (text: string): Action => ({ kind: 'code', code: text });
const crop = (box: string): Step => [code(`image_clue_0.crop((${box})).show()\n`)];
const refused = (errorType: string, errorMessage = ''): Partial<ToolResult> => ({
  kind: 'exception',
  errorType,
  errorMessage,
  imageCount: 0,
});

function scored(steps: readonly Step[], answer = '3', id = 'a0'): ScoredTrajectory {
  const builder = new TrajectoryBuilder({ id, taskId: 'a', sampleIndex: 0 });
  const image = { name: 'image_clue_0', png: new Uint8Array(), width: 100, height: 100 };
  const shown = { ...image, modelWidth: 28, modelHeight: 28, tokenCount: 1 };
  builder.prompt({ tokens: Int32Array.of(1), images: [shown], text: '?' });
  const speak = (): void =>
    builder.model({
      tokens: Int32Array.of(2),
      logprobs: Float32Array.of(-1),
      text: '',
      policyVersion: 0,
    });
  for (const [action, result] of steps) {
    speak();
    const ran: ToolResult = {
      ...{ kind: 'ok', stdout: '', stderr: '', imageCount: 1, wallMs: 1 },
      ...result,
    };
    builder.turn(action, action.kind === 'invalid' ? undefined : ran);
    builder.observation({ tokens: Int32Array.of(3), images: [], text: 'seen' });
  }
  speak();
  builder.turn({ kind: 'answer', answer });
  const isCorrect = answer === '7';
  return { ...builder.finish('answered'), reward: 0, rewardTerms: {}, isCorrect };
}

const contextOf = (trajectory: ScoredTrajectory, metadata: Metadata) =>
  makeContext(trajectory, { answer: '7', metadata }, { verifier: exact });

const kinds = (trajectory: ScoredTrajectory, metadata: Metadata = upright): readonly string[] =>
  tagErrors(trajectory, contextOf(trajectory, metadata), options).map(
    ({ kind, turn }) => `${kind}@${turn}`,
  );

/** The same card, with the one tool that helps. */
const byZoom: Metadata = { ...upright, helpfulTools: ['image_zoom_in_tool'] };

describe('the choice of a tool', () => {
  const look = (box: readonly number[], text = ''): Step => [
    call('image_zoom_in_tool', { bbox_2d: box }),
    { stdout: text },
  ];
  const read = (text: string): Step => [call('read_code'), { stdout: text, imageCount: 0 }];

  it('is E4 where the tool that ran cannot help, and what it gave is no evidence', () => {
    const misread = scored([read('QR code: 7')]);
    expect(kinds(misread, byZoom)).toEqual(['E4@0']);
    expect(kinds(misread, { ...upright, helpfulTools: ['read_code'] })).toEqual(['E6@1']);
    const byCode = { ...byZoom, helpfulTools: ['read_code'] };
    expect(kinds(scored([look([10, 20, 30, 40])]), byCode)).toEqual(['E4@0']);
    expect(kinds(scored([look([50, 50, 90, 90])]), byCode)).toEqual(['E4@0']);
  });

  it('is no error where the tool helps, nor where the task does not say which do', () => {
    expect(kinds(scored([read('x'), look([10, 20, 30, 40])]), byZoom)).toEqual(['E4@0', 'E6@2']);
    expect(kinds(scored([look([10, 20, 30, 40])]), byZoom)).toEqual(['E6@1']);
    expect(kinds(scored([read('x')]), upright)).toEqual([]);
  });

  it('is none where a call was refused: that has a kind of its own', () => {
    expect(kinds(scored([[call('zoom'), refused('UnknownTool')]]), byZoom)).toEqual(['E1@0']);
  });
});

describe('the errors of a trajectory', () => {
  it.each<[string, readonly Step[], readonly string[]]>([
    ['a call that is no JSON', [[{ kind: 'invalid', reason: 'malformedCall' }]], ['E1@0']],
    ['a turn without a call', [[{ kind: 'invalid', reason: 'noCallNorAnswer' }]], []],
    ['an unknown tool', [[call('zoom'), refused('UnknownTool')]], ['E1@0']],
    ['a missing argument', [[call('zoom'), refused('MissingArgument')]], ['E1@0']],
    ['a name the tool does not know', [[call('zoom'), refused('UnknownArgument')]], ['E2@0']],
    ['text where a number belongs', [[call('zoom'), refused('BadArgument')]], ['E3@0']],
    ['a tool that fails', [[call('zoom'), refused('ToolUnavailable')]], ['E5@0']],
    ['a tool that takes too long', [[call('zoom'), { kind: 'timeout' }]], ['E5@0']],
    ['a tool that gives nothing', [[call('zoom'), { imageCount: 0 }]], ['E5@0']],
    ['code that does not parse', [[code('x ='), refused('SyntaxError')]], ['E1@0']],
    [
      'an unknown keyword',
      [[code('f(y=1)'), refused('TypeError', "f() got an unexpected keyword argument 'y'")]],
      ['E2@0'],
    ],
    ['another exception', [[code('[][1]'), refused('IndexError')]], ['E3@0']],
    ['code that prints nothing', [[code('x = 1'), { imageCount: 0 }]], []],
    ['a crop beside the card', [crop('50,50,90,90')], ['E4@0']],
    ['a crop of half a card', [crop('10,20,20,40')], ['E6@1']],
    ['a crop of less', [crop('10,20,19,40')], ['E4@0']],
    ['a crop that misses, then one that hits', [crop('50,50,90,90'), crop('5,5,45,45')], ['E6@2']],
    ['one that hits, then one that misses', [crop('5,5,45,45'), crop('0,0,9,9')], ['E4@1', 'E6@2']],
    ['a turn nobody asked for', [[code('image_clue_0.rotate(90).show()\n')]], ['E4@0']],
    ['the answer in print', [[call('ocr'), { stdout: 'It says: 7.', imageCount: 0 }]], ['E6@1']],
    ['another number in print', [[call('ocr'), { stdout: '17, 70 and 0.7' }]], []],
  ])('%s', (_, steps, expected) => {
    expect(kinds(scored(steps))).toEqual(expected);
  });

  it('stay in a trajectory that recovers, without one of reasoning', () => {
    const steps: readonly Step[] = [[call('zoom'), refused('BadArgument')], crop('5,5,45,45')];
    expect(kinds(scored(steps, '7'))).toEqual(['E3@0']);
  });

  it('are no errors of place where the task does not say the place', () => {
    expect(kinds(scored([crop('50,50,90,90')]), {})).toEqual([]);
  });

  it('are undecided where a wrong answer follows a tool and no rule has a reason', () => {
    const other = scored([[call('ocr'), { stdout: '17' }]]);
    const tags = tagErrors(other, contextOf(other, {}), options);
    expect(isUndecided(other, tags)).toBe(true);
    const blind = scored([]);
    expect(isUndecided(blind, [])).toBe(false);
  });
});

describe('errors as metrics', () => {
  const never = (message: string) => expect.unreachable(message);
  const group = (trajectories: readonly ScoredTrajectory[]): ScoredGroupResult => ({
    scored: { taskId: 'a', trajectories },
    contexts: trajectories.map((one) => contextOf(one, upright)),
    failed: [],
  });

  it('are shares of wrong trajectories, each counted once per kind', () => {
    const bad: Step = [call('zoom'), refused('BadArgument')];
    const metrics = errorMetrics(
      [
        group([
          scored([bad, bad], '3', 'a0'),
          scored([bad, crop('5,5,45,45')], '3', 'a1'),
          scored([[call('ocr'), { stdout: '17' }]], '3', 'a2'),
          scored([], '3', 'a3'),
          // Right: not among them.
          scored([bad], '7', 'a4'),
        ]),
      ],
      options,
      never,
    );
    expect(metrics).toEqual({
      'errors/E1': 0,
      'errors/E2': 0,
      'errors/E3': 0.5,
      'errors/E4': 0,
      'errors/E5': 0,
      'errors/E6': 0.25,
      'errors/undecided': 0.25,
    });
  });

  it('are a warning where the task set is wrong', () => {
    const one = scored([crop('5,5,45,45')]);
    const contexts = [contextOf(one, { box: 'here' })];
    const warnings: string[] = [];
    const results = [{ scored: { taskId: 'a', trajectories: [one] }, contexts, failed: [] }];
    expect(errorMetrics(results, options, (message) => warnings.push(message))).toEqual({});
    expect(warnings[0]).toContain('metadata.box must be four numbers');
  });

  it('are absent where nothing is wrong', () => {
    expect(errorMetrics([group([scored([], '7')])], options, never)).toEqual({});
  });
});
