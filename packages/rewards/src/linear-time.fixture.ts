/** Hostile texts for everything that reads what a model wrote: what makes patterns try again. */

/** Pieces of every markup that is read anywhere, and the characters between which patterns waver. */
const atoms: readonly string[] = [
  ...[' ', '\n', '\t', '1', '0', 'a', 'A', '.', ',', '-', '+', '/', '\\', '$', '"', "'", '`', '*'],
  ...['(', ')', '[', ']', '{', '}', '<', '>', '=', '^', '%', '&', '_', '~', ';', ':', '|', 'é'],
  ...['<think>', '</think>', '<answer>', '</answer>', '<tool_call>', '</tool_call>', '<code>'],
  ...['</code>', '<python>', '</python>', '```', '```python', '```python\n', '<image_clue_0>'],
  ...['\\boxed{', '\\text{', '\\mathrm{', '\\frac', '\\frac ', '\\left', '\\circ', '\\sqrt{'],
  ...['\\(', '\\)', '\\[', '\\]', '$$', '\\approx', '\\quad', '\\operatorname{', '\\hspace{'],
  ...[
    '^{',
    '^ {',
    '1,000',
    '1,',
    '1.',
    '.1',
    '1e',
    '1 ',
    'a ',
    'or ',
    'and ',
    'answer is ',
    '\\\\[',
  ],
  ...[
    'the answer',
    'option ',
    'twenty-',
    'percent',
    'a-',
    '"x/',
    "'/a",
    '{"a":',
    '[1,',
    "f'''",
    '"""',
  ],
  ...[
    '<think></think>',
    '<think></think>\n',
    '<tool_call></tool_call>',
    '</python',
    '<  /  ',
    'x=',
  ],
];

/** Starts that let a pattern in before it fails. */
const starts: readonly string[] = ['', '1', 'a', '(', '<think>', '\\text{', '```python ', '"'];
const ends: readonly string[] = ['', '!', '\n', '}'];

export interface Hostile {
  readonly title: string;
  readonly text: string;
}

/** Texts of about `length` characters: each atom, and pairs of atoms, repeated between the ends. */
export function* hostileTexts(length: number): Generator<Hostile> {
  for (const [index, atom] of atoms.entries()) {
    const other = atoms[(index * 37 + 11) % atoms.length] ?? '';
    for (const piece of [atom, `${atom}${other}`]) {
      const body = piece.repeat(Math.ceil(length / piece.length));
      const start = starts[index % starts.length] ?? '';
      const end = ends[index % ends.length] ?? '';
      yield { title: JSON.stringify(piece), text: body };
      yield {
        title: `${JSON.stringify(piece)} in ${JSON.stringify([start, end])}`,
        text: `${start}${body}${end}`,
      };
    }
  }
}
