/** Random programs: the analysis follows or gives up, the same way every time, and never throws. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyzeCode } from './analyze.ts';
import { MAX_CHARACTERS, MAX_OPERATIONS } from './interpreter/budget.ts';
import type { TurnToolUse } from './operation.ts';

/** Random programs of each kind. */
const RUNS = process.env.SACCADE_SWEEP === undefined ? 100 : 500;

const inputs = [{ name: 'image_clue_0', width: 640, height: 400 }];

function analyze(...codes: readonly string[]): readonly TurnToolUse[] {
  return analyzeCode(
    codes.map((code, turn) => ({ turn, code })),
    inputs,
  );
}

/** Programs from the pieces that make others large, at random. */
function hostilePrograms(): fc.Arbitrary<string> {
  const name = fc.constantFrom('a', 'b', 'c', 'f', 'g', 'image_clue_0', 'np', 'Image', 'print');
  const atom = fc.oneof(
    name,
    fc.constantFrom(
      '0',
      '-1',
      '10**9',
      '1e308',
      '1e-9',
      '10**10**10',
      '"ab"',
      '"x"*999',
      '[]',
      '[1, 2]',
      '{}',
      'None',
      'True',
      '...',
      'range(1000)',
      'range(10**9)',
      '(1, 2, 3, 4)',
      'a[::-1]',
      'b[10**8]',
      'f"{a}{b}"',
      'image_clue_0.size',
      'np.array(image_clue_0)',
      'lambda: f()',
      '0x10',
      '1j',
      '__name__',
    ),
  );
  const { expression } = fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      atom,
      fc
        .tuple(
          tie('expression'),
          fc.constantFrom('+', '*', '**', '<<', '//', '%', '-', '==', 'in', 'is', 'and', '@'),
          tie('expression'),
        )
        .map(([left, operator, right]) => `(${left}) ${operator} (${right})`),
      fc
        .tuple(name, fc.array(tie('expression'), { maxLength: 3 }))
        .map(([callee, args]) => `${callee}(${args.join(', ')})`),
      fc
        .tuple(
          fc.constantFrom(
            'list',
            'set',
            'sorted',
            'zip',
            'max',
            'sum',
            'round',
            'str',
            'int',
            'range',
            'enumerate',
            'map',
            'dict',
            'len',
            'tuple',
            'reversed',
            'divmod',
            'pow',
            'next',
            'np.zeros',
            'np.rot90',
            'np.flip',
            'np.arange',
            'np.concatenate',
            'Image.new',
            'Image.fromarray',
            'cv2.resize',
            'cv2.warpAffine',
            'cv2.getRotationMatrix2D',
            'plt.subplots',
            'ImageOps.fit',
            'ImageOps.pad',
            'ImageOps.scale',
          ),
          fc.array(tie('expression'), { maxLength: 3 }),
        )
        .map(([callee, args]) => `${callee}(${args.join(', ')})`),
      fc
        .tuple(
          tie('expression'),
          fc.constantFrom(
            'append',
            'extend',
            'insert',
            'pop',
            'sort',
            'index',
            'copy',
            'get',
            'items',
            'keys',
            'upper',
            'crop',
            'rotate',
            'resize',
            'transpose',
            'thumbnail',
            'reduce',
            'save',
            'show',
            'format',
            'astype',
            'flatten',
            'paste',
          ),
          fc.array(tie('expression'), { maxLength: 2 }),
        )
        .map(([self, method, args]) => `(${self}).${method}(${args.join(', ')})`),
      fc.tuple(tie('expression'), tie('expression')).map(([self, index]) => `(${self})[${index}]`),
      fc
        .tuple(tie('expression'), tie('expression'))
        .map(([self, index]) => `(${self})[${index}:, ::${index}]`),
      fc
        .tuple(tie('expression'), tie('expression'))
        .map(([left, right]) => `[${left}, *(${right})]`),
      fc.tuple(tie('expression'), tie('expression')).map(([key, value]) => `{${key}: ${value}}`),
      fc
        .tuple(tie('expression'), tie('expression'))
        .map(([element, over]) => `[${element} for a in (${over}) for b in (${over})]`),
      fc
        .tuple(tie('expression'), tie('expression'))
        .map(([test, value]) => `(${value} if (${test}) else a)`),
    ),
  }));
  const { block } = fc.letrec<{ block: readonly string[] }>((tie) => {
    const nested = tie('block').map((inner) => inner.map((line) => `  ${line}`));
    const statement: fc.Arbitrary<readonly string[]> = fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.tuple(name, expression).map(([target, value]) => [`${target} = ${value}`]),
      fc
        .tuple(name, fc.constantFrom('+', '*', '**'), expression)
        .map(([target, operator, value]) => [`${target} ${operator}= ${value}`]),
      expression.map((value) => [value]),
      fc
        .tuple(name, expression, expression)
        .map(([target, index, value]) => [`${target}[${index}] = ${value}`]),
      fc
        .tuple(name, expression, nested)
        .map(([target, over, inner]) => [`for ${target} in ${over}:`, ...inner]),
      fc.tuple(expression, nested).map(([test, inner]) => [`while ${test}:`, ...inner]),
      fc
        .tuple(expression, nested, nested)
        .map(([test, one, other]) => [`if ${test}:`, ...one, 'else:', ...other]),
      fc
        .tuple(nested, nested)
        .map(([one, other]) => ['try:', ...one, 'except Exception as e:', ...other]),
      fc
        .tuple(fc.constantFrom('f', 'g'), nested, expression)
        .map(([own, inner, value]) => [`def ${own}(a=1, *b):`, ...inner, `  return ${value}`]),
      fc.tuple(expression, nested).map(([value, inner]) => [`with ${value} as c:`, ...inner]),
      fc.constantFrom(
        ['import numpy as np'],
        ['import cv2'],
        ['raise ValueError'],
        ['del a'],
        ['global a'],
        ['break'],
        ['return'],
      ),
    );
    return { block: fc.array(statement, { minLength: 1, maxLength: 4 }).map((all) => all.flat()) };
  });
  return block.map((all) => `import cv2\nfrom PIL import ImageOps\n${all.join('\n')}`);
}

describe('any code', () => {
  const check = (code: string): void => {
    const [use, again] = [analyze(code, code), analyze(code, code)];
    expect(use).toEqual(again);
    for (const turn of use) {
      expect(turn.operations.length).toBeLessThanOrEqual(MAX_OPERATIONS);
      expect(turn.isIncomplete).toBe(turn.gaveUp !== undefined);
      for (const { box, numbers } of turn.operations) {
        expect([...(box ?? []), ...numbers].every((value) => typeof value === 'number')).toBe(true);
      }
    }
  };

  it('made of what grows is followed or given up, the same way every time', () => {
    fc.assert(fc.property(hostilePrograms(), check), { numRuns: RUNS });
  });

  it('that is no Python at all does nothing', () => {
    const piece = fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      ':',
      ',',
      '.',
      '=',
      '+',
      '*',
      '"',
      "'",
      '\\',
      '\n',
      '  ',
      '\t',
      'if ',
      'for ',
      'in ',
      'def ',
      'f"',
      '{x}',
      '#',
      '0',
      'x',
      '\u0000',
      '\ud800',
      '😀',
      'é',
    );
    const text = fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join(''));
    fc.assert(fc.property(fc.oneof(text, fc.string({ unit: 'binary', maxLength: 300 })), check), {
      numRuns: RUNS,
    });
  });

  it('however long', () => {
    const piece = fc.constantFrom(
      'a',
      '1',
      '(',
      '[',
      '+',
      '.b',
      ' if ',
      ';',
      '\n',
      '\n ',
      'not ',
      'x=',
      '"',
      ':',
      'f()',
      '@',
      ',',
      '[0]',
    );
    const long = fc.tuple(
      fc.array(piece, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 100, max: MAX_CHARACTERS }),
    );
    fc.assert(
      fc.property(long, ([pieces, count]) => {
        const unit = pieces.join('');
        check(unit.repeat(Math.ceil(count / unit.length)));
      }),
      { numRuns: 60 },
    );
  });
});
