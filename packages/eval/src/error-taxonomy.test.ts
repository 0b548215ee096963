import type { ScoredTrajectory } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { isUndecided, tagErrors } from './error-taxonomy.ts';
import {
  call,
  code,
  contextOf,
  crop,
  type Metadata,
  options,
  refused,
  type Step,
  scored,
  upright,
} from './error-trajectories.fixture.ts';

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
