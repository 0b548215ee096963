/**
 * Programs with known effects, put behind whatever hides them: the possible attempt stays visible for
 * penalties, and nothing that is hidden is certain for bonuses.
 */
import { describe, expect, it } from 'vitest';
import { analyzeCode } from './analyze.ts';
import type { TurnToolUse } from './operation.ts';

const inputs = [{ name: 'image_clue_0', width: 640, height: 400 }];

function analyzed(code: string, result?: { kind: 'ok' | 'exception'; errorLine?: number }) {
  const [use] = analyzeCode([{ turn: 0, code, ...(result && { result }) }], inputs);
  return use as TurnToolUse;
}

/** Expressions that give an image, and one of the kinds that they are. */
const effects = [
  ['image_clue_0.rotate(90, expand=True)', 'rotate_90'],
  ['image_clue_0.rotate(180)', 'rotate_180'],
  ['image_clue_0.transpose(Image.FLIP_LEFT_RIGHT)', 'flip_horizontal'],
  ['ImageOps.mirror(image_clue_0)', 'flip_horizontal'],
  ['np.rot90(np.array(image_clue_0))', 'rotate_90'],
  ['image_clue_0.crop((10, 10, 60, 60))', 'crop'],
] as const;

const head = 'import random, importlib, operator, functools\nfrom PIL import Image, ImageOps\n';
const indented = (code: string): string => code.replace(/^/gm, '    ');
const quoted = (code: string): string => JSON.stringify(code);
/** `image_clue_0.rotate(90)` as receiver, name and arguments. */
const parts = (code: string): readonly [string, string, string] => {
  const [, on = '', name = '', given = ''] = /^(\w+)\.(\w+)\((.*)\)$/.exec(code) ?? [];
  return [on, name, given];
};

/** Ways of hiding an expression whose effect is then not certain. */
const opaque: Readonly<Record<string, (code: string) => string>> = {
  'an opaque condition': (code) => `if random.random() < 2:\n    r = ${code}`,
  'an opaque else': (code) => `if random.random() > 2:\n    pass\nelse:\n    r = ${code}`,
  'an opaque conditional': (code) => `r = ${code} if random.random() < 2 else None`,
  'an opaque and': (code) => `random.random() < 2 and ${code}`,
  'an opaque while': (code) => `while random.random() < 0.5:\n    r = ${code}\n    break`,
  'an opaque for': (code) => `for i in range(random.randint(1, 1)):\n    r = ${code}`,
  'an opaque comprehension': (code) => `r = [${code} for i in range(random.randint(1, 1))]`,
  'a filter of a comprehension': (code) => `r = [${code} for i in [1] if random.random() < 2]`,
  'a match': (code) => `match random.randint(0, 9):\n    case _:\n        r = ${code}`,
  'a file that may exist': (code) => `import os\nif not os.path.exists('/none'):\n    r = ${code}`,
  exec: (code) => `exec(${quoted(`r = ${code}`)})`,
  eval: (code) => `r = eval(${quoted(code)})`,
  compile: (code) => `exec(compile(${quoted(code)}, '', 'exec'))`,
  'exec of pieces': (code) => `exec(${quoted(code.slice(0, 16))} + ${quoted(code.slice(16))})`,
  'exec of what is not known': (code) =>
    `import base64\nexec(base64.b64decode(${quoted(Buffer.from(code).toString('base64'))}))`,
  'an alias of exec': (code) => `run = exec\nrun(${quoted(code)})`,
  'builtins by name': (code) => `__builtins__['exec'](${quoted(code)})`,
  getattr: (code) => {
    const [on, name, given] = parts(code);
    return `r = getattr(${on}, ${quoted(name)})(${given})`;
  },
  'getattr of pieces': (code) => {
    const [on, name, given] = parts(code);
    return `r = getattr(${on}, ${quoted(name.slice(0, 2))} + ${quoted(name.slice(2))})(${given})`;
  },
  __getattribute__: (code) => {
    const [on, name, given] = parts(code);
    return `r = ${on}.__getattribute__(${quoted(name)})(${given})`;
  },
  'the class of the image': (code) => {
    const [on, name, given] = parts(code);
    return `r = type(${on}).${name}(${on}, ${given})`;
  },
  methodcaller: (code) => {
    const [on, name, given] = parts(code);
    return `r = operator.methodcaller(${quoted(name)}, ${given})(${on})`;
  },
  partial: (code) => {
    const [on, name, given] = parts(code);
    return `r = functools.partial(${on}.${name}, ${given})()`;
  },
  'a thread': (code) => `import threading\nthreading.Thread(target=lambda: ${code}).start()`,
  'a function passed as a value': (code) =>
    `def do():\n    return ${code}\nunknown_package = importlib.import_module('x')\nunknown_package.run(do)`,
  'a lambda passed as a value': (code) => `random.choice([1])(lambda: ${code})`,
  'a table with an unknown key': (code) =>
    `t = {'a': lambda: ${code}, 'b': lambda: 1}\nt[random.choice(['a', 'b'])]()`,
  'a decorator of a package': (code) =>
    `import wrapt\n@wrapt.decorator\ndef do():\n    return ${code}\ndo()`,
  'a method of a class': (code) =>
    `class Do:\n    def go(self):\n        return ${code}\nDo().go()`,
  'a handler': (code) => `try:\n    random.choice([])\nexcept IndexError:\n    r = ${code}`,
  'a try behind a call': (code) =>
    `try:\n    random.choice([])()\n    r = ${code}\nexcept Exception:\n    pass`,
  'a generator of next': (code) => `r = next(${code} for i in iter(random.sample([1], 1)))`,
};

/** Ways of saying the same that are followed. */
const plain: Readonly<Record<string, (code: string) => string>> = {
  itself: (code) => `r = ${code}`,
  'an alias': (code) => `first = image_clue_0\nr = ${code.replaceAll('image_clue_0', 'first')}`,
  'a lambda': (code) => `r = (lambda: ${code})()`,
  'a function': (code) => `def do():\n    return ${code}\nr = do()`,
  'a loop': (code) => `for i in range(1):\n    r = ${code}`,
  'a comprehension': (code) => `r = [${code} for i in range(1)]`,
  'a decorator of its own': (code) =>
    `def twice(f):\n    return lambda: f()\n@twice\ndef do():\n    return ${code}\nr = do()`,
  map: (code) => `r = list(map(lambda i: ${code}, [1]))`,
  'a try': (code) => `try:\n    r = ${code}\nexcept Exception:\n    pass`,
};

/** Only method calls have a receiver, a name and arguments to take apart. */
const isMethod = (code: string): boolean => /^image_clue_0\.\w+\([^()]*(\([^()]*\))?\)$/.test(code);
const needsMethod = /getattr|class of|methodcaller|partial/;

const mayBe = (use: TurnToolUse, kind: string): boolean =>
  use.attempts.some(({ kinds }) => kinds === 'any' || (kinds as readonly string[]).includes(kind));

const isCertain = (use: TurnToolUse, kind: string): boolean =>
  use.operations.some((done) => done.kind === kind && done.isCertain);

describe.each(Object.entries(opaque))('%s', (name, hide) => {
  const cases = effects.filter(([code]) => !needsMethod.test(name) || isMethod(code));

  it.each(cases)('around %s: an attempt, and not certain', (code, kind) => {
    const use = analyzed(head + hide(code));
    expect(use.hasSyntaxError).toBe(false);
    expect(mayBe(use, kind), head + hide(code)).toBe(true);
    expect(isCertain(use, kind), head + hide(code)).toBe(false);
  });

  it.each(cases)('around %s, once more hidden', (code, kind) => {
    for (const outer of ['an opaque condition', 'a function passed as a value', 'exec']) {
      const statement = hide(code);
      const again =
        outer === 'exec'
          ? `exec(${quoted(statement)})`
          : outer === 'an opaque condition'
            ? `if random.random() < 2:\n${indented(statement)}`
            : `def outer():\n${indented(statement)}\nrandom.choice([1])(outer)`;
      const use = analyzed(head + again);
      expect(mayBe(use, kind), again).toBe(true);
      expect(isCertain(use, kind), again).toBe(false);
    }
  });
});

describe.each(Object.entries(plain))('%s', (_, write) => {
  it.each(effects)('of %s is followed: an attempt, and certain', (code, kind) => {
    const use = analyzed(head + write(code));
    expect(mayBe(use, kind)).toBe(true);
    expect(isCertain(use, kind)).toBe(true);
    // Nothing else is suspected.
    for (const { kinds } of use.attempts) expect(kinds).toEqual([kind]);
  });

  it.each(effects)('of %s counts as an attempt where the call fails afterwards', (code, kind) => {
    const text = `${head}${write(code)}\nraise ValueError('x')`;
    const errorLine = text.split('\n').length;
    expect(mayBe(analyzed(text, { kind: 'exception', errorLine }), kind)).toBe(true);
    expect(mayBe(analyzed(text, { kind: 'exception' }), kind)).toBe(true);
    // Also where it fails in the same statement.
    const same = `${head}r = [${code}, 1 / 0]`;
    const last = { kind: 'exception', errorLine: same.split('\n').length } as const;
    expect(mayBe(analyzed(same, last), kind)).toBe(true);
    expect(isCertain(analyzed(same, last), kind)).toBe(false);
  });
});

describe('innocent code', () => {
  it.each([
    "print(getattr(image_clue_0, 'size'))",
    "resample = getattr(Image, 'Resampling', Image).LANCZOS\nr = image_clue_0.resize((10, 10), resample)",
    "print('rotate the page, then crop it')",
    '# image_clue_0.rotate(90)\nx = image_clue_0.size',
    "print(eval('3 * (4 + 5)'))",
    'a = np.array(image_clue_0)\nb = a.transpose(2, 0, 1)',
    'a = np.array(image_clue_0)[:, :, ::-1]',
    "x = 'a'.upper()[::-1]",
    'def helper():\n    return image_clue_0.rotate(90)\nprint(image_clue_0.size)',
    'if False:\n    image_clue_0.rotate(90)',
    'import os\nif os.path.exists("x.png"):\n    print(1)',
    'plt.imshow(image_clue_0)\nplt.xticks(rotation=45)\nplt.show()',
    'try:\n    r = image_clue_0.resize((10, 10))\nexcept Exception as e:\n    print(e)',
  ])('has no attempt to turn or crop: %s', (code) => {
    const suspected = analyzed(code).attempts.flatMap(({ kinds }) => kinds);
    for (const kind of ['any', 'rotate_90', 'flip_horizontal', 'crop']) {
      expect(suspected).not.toContain(kind);
    }
  });

  it('that is refused before it runs attempts nothing', () => {
    const [use] = analyzeCode(
      [{ turn: 0, code: 'image_clue_0.rotate(90)', result: { kind: 'forbidden' } }],
      inputs,
    );
    expect(use?.attempts).toEqual([]);
  });
});

it('a function of an earlier turn counts where a later one may call it', () => {
  const uses = analyzeCode(
    [
      { turn: 0, code: 'def do():\n    return image_clue_0.rotate(90)' },
      { turn: 1, code: "exec('d' + 'o()')" },
    ],
    inputs,
  );
  expect(uses[0]?.attempts).toEqual([]);
  expect(mayBe(uses[1] as TurnToolUse, 'rotate_90')).toBe(true);
});
