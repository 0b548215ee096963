import { describe, expect, it } from 'vitest';
import { analyzeCode } from './analyze.ts';
import type { Operation } from './operation.ts';
import { SNIPPET_HEIGHT, SNIPPET_WIDTH, type Snippet, snippets } from './snippets.fixture.ts';

const inputs = [{ name: 'image_clue_0', width: SNIPPET_WIDTH, height: SNIPPET_HEIGHT }];

/** An operation in the fixture's notation. */
function written(done: Operation): string {
  const { kind, canonicalBox, numbers, boxProblem, output, isNoOp, isCertain } = done;
  const shown = kind === 'crop' ? canonicalBox : kind === 'resize' ? numbers : [];
  const marks = [
    boxProblem === 'inverted' && output === undefined && '!',
    isNoOp && '~',
    !isCertain && '?',
  ];
  const rounded = (shown ?? []).map((value) => Math.round(value * 1000) / 1000);
  const inverted = boxProblem === 'inverted' && output === undefined ? numbers : rounded;
  return [kind, ...inverted, ...marks].filter((part) => part !== false).join(' ');
}

function found({ turns }: Snippet): readonly string[] {
  const analyzed = analyzeCode(
    turns.map((code, turn) => ({ turn, code })),
    inputs,
  );
  return analyzed.flatMap(({ operations }) =>
    operations.filter(({ family }) => family !== 'io').map(written),
  );
}

/** How many of `wanted` stand in `given`, each counted once. */
function countCommon(given: readonly string[], wanted: readonly string[]): number {
  const left = [...given];
  return wanted.filter((item) => {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  }).length;
}

describe('analyzeCode', () => {
  it.each(snippets.map((snippet) => [snippet.name, snippet] as const))(
    'follows: %s',
    (_, snippet) => {
      expect(found(snippet)).toEqual(snippet.expected);
    },
  );

  it('keeps precision and recall over all snippets', () => {
    let [matched, given, wanted] = [0, 0, 0];
    for (const snippet of snippets) {
      const own = found(snippet);
      matched += countCommon(own, snippet.expected);
      given += own.length;
      wanted += snippet.expected.length;
    }
    expect(snippets.length).toBeGreaterThanOrEqual(150);
    console.log(
      `${snippets.length} snippets, ${wanted} operations, ${given} found, ${matched} right`,
    );
    expect(matched / given).toBe(1);
    expect(matched / wanted).toBe(1);
  });
});
