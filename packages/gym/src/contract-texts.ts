/** Model turns of every kind, for the contract of protocols: written well, at random, and in malice. */
import { type Random, randomAt } from '@saccade/core';
import type { Action } from '@saccade/trajectory';
import type { Protocol } from './protocol.ts';

/** An action that a protocol can be asked to write. */
export type ActionForm = Extract<Action, { kind: 'code' | 'answer' | 'toolCall' }>;

/** Turns whose code, answers and thoughts are ordinary; as many kinds as the protocol has. */
export function writtenActions(
  protocol: Protocol,
): readonly { readonly action: ActionForm; readonly thought?: string }[] {
  const answers = ['7', 'a red car', '\\frac{1}{2}', 'x < y and y > z'];
  const scripts = [
    'print(1)',
    'x = 1\nif x < 2:\n    print("<b>", x)\n# a comment',
    'print("""two\nlines""")',
    "print('ünïcödé', '\\\\n')",
  ];
  const calls = (protocol.tools ?? []).map((tool): ActionForm => {
    return { kind: 'toolCall', name: tool.name, arguments: tool.example };
  });
  const codes = calls.length > 0 ? [] : scripts.map((code): ActionForm => ({ kind: 'code', code }));
  const forms: readonly ActionForm[] = [
    ...answers.map((answer): ActionForm => ({ kind: 'answer', answer })),
    ...calls,
    ...codes,
  ];
  return forms.flatMap((action) => [{ action }, { action, thought: 'I look, and then: go.' }]);
}

/** Texts that break careless parsers: unclosed, nested, empty, huge, not text at all. */
export function hostileTexts(): readonly string[] {
  const many = 20_000;
  return [
    '',
    ' \n',
    'no tags',
    '<code>',
    '</answer><answer>',
    '<answer></answer>',
    '<code>```python```</code>',
    '```python\n',
    '\ud800',
    '<answer><answer>7</answer></answer>',
    '<think><answer>7</answer></think>',
    '<code>\n```python\nprint("</code> <answer>8</answer>")\n```\n</code>',
    '<tool_call>{"name": "x", "arguments": {"code": "a </tool_call> b"}}</tool_call>',
    '<tool_call></tool_call>',
    '<tool_call>null</tool_call><tool_call>[]</tool_call><tool_call>7</tool_call>',
    '<tool_call>{"name": 7, "arguments": "x", "tool": {}}</tool_call>',
    '<tool_call>{"name": "x", "tool": "x", "arguments": {"n": 1e999}}</tool_call>',
    '<tool_call>{"name": "x", "tool": "x", "arguments": {"__proto__": {"a": 1}}}</tool_call>',
    `<tool_call>{"name": "x", "tool": "x", "arguments": ${'{"a":'.repeat(99)}1${'}'.repeat(99)}}</tool_call>`,
    `<tool_call>${'['.repeat(many)}${']'.repeat(many)}</tool_call>`,
    `<tool_call>{"name": "x", "tool": "x", "arguments": {"a": ${'['.repeat(many)}${']'.repeat(many)}}}</tool_call>`,
    ...['<code>', '<answer>', '<tool_call>', '</code>', '```python\n', '```', '<', '{', '\\'].map(
      (piece) => piece.repeat(many),
    ),
    `<code>\`\`\`python${'\n'.repeat(many)}`,
    `<answer>${'x'.repeat(1_000_000)}</answer>`,
  ];
}

const pieces = [
  '<code>',
  '</code>',
  '<answer>',
  '</answer>',
  '<think>',
  '</think>',
  '<tool_call>',
  '</tool_call>',
  '<tool_response>',
  '</tool_response>',
  '```python\n',
  '```',
  '\\boxed{',
  '}',
  '{',
  '"',
  '{"name": "image_zoom_in_tool", "arguments": {}}',
  '{"tool": "image_zoom_in_tool", "task": 1}',
  '{"name": "code_image_tool", "arguments": {"code": "',
  '"}}',
  ':',
  '\n',
  ' ',
  'x = 1',
  '7',
  '\ud800',
  '<|im_end|>',
];

/** Texts of tags, code, JSON and characters in any order; the same for the same protocol. */
export function* randomTurns(protocol: Protocol, count: number): Generator<string> {
  const own = protocol.tags.flatMap((tag) => {
    const name = tag.replaceAll('\\d+', '0');
    return [`<${name}>`, `</${name}>`];
  });
  const all = [...pieces, ...own, ...protocol.stop];
  const random = randomAt(1, 'contract', protocol.name);
  for (let i = 0; i < count; i++) yield randomTurn(all, random);
}

function randomTurn(all: readonly string[], random: Random): string {
  let text = '';
  for (let left = random.integer(24); left > 0; left--) {
    text += random.integer(8) === 0 ? String.fromCharCode(random.integer(0x300)) : random.pick(all);
  }
  return text;
}
