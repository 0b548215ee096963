import { describe, expect, it } from 'vitest';
import type { Protocol } from '../protocol.ts';
import { codedance } from './codedance.ts';
import { codev } from './codev.ts';
import { codevision } from './codevision.ts';
import { vista } from './vista.ts';

const fence = (code: string): string => `\`\`\`python\n${code}\n\`\`\``;
const call = (json: unknown): string => `<tool_call>${JSON.stringify(json)}</tool_call>`;
const tagged = codedance.with({ code: 'tagged', afterFailure: 'keep' });
const invalid = (reason: string) => ({ kind: 'invalid', reason });
const toolCall = (name: string, given: object) => ({ kind: 'toolCall', name, arguments: given });
const codeCall = { name: 'code_image_tool', arguments: { code: 'x', description: '' } };

describe('what comes first in a turn', () => {
  it.each<[Protocol, string, string, object]>([
    [codedance, 'the first fence', `${fence('a')}${fence('b')}`, { kind: 'code', code: 'a\n' }],
    [
      codedance,
      'code before an answer',
      `<answer>7</answer>${fence('a')}`,
      { kind: 'code', code: 'a\n' },
    ],
    [
      codedance,
      'a call before a fence',
      `${fence('a')}${call({ name: 'execute_python_code', arguments: { code: 'b' } })}`,
      { kind: 'code', code: 'b' },
    ],
    [
      codedance,
      'the last answer',
      '<answer>1</answer><answer> 2 </answer>',
      { kind: 'answer', answer: '2' },
    ],
    [codedance, 'nothing in thoughts alone', '<think>7</think>', invalid('noCodeNorAnswer')],
    [
      tagged,
      'the first fence within tags',
      `${fence('a')}<code>no fence</code><code>${fence('b')}</code>`,
      { kind: 'code', code: 'b\n' },
    ],
    [
      codev,
      'an answer before code',
      `<code>a</code><answer>7</answer>`,
      { kind: 'answer', answer: '7' },
    ],
    [
      codev,
      'all code as one script, fences aside',
      `<code>a</code> <code>\n${fence('b')}\n</code>`,
      { kind: 'code', code: 'a\nb' },
    ],
    [codev, 'no bare fence', fence('a'), invalid('noCodeNorAnswer')],
    [
      vista,
      'a call before an answer, its task among the arguments',
      `<answer>7</answer>${call({ tool: 't', task: 'look', arguments: { a: 1 } })}`,
      toolCall('t', { a: 1, task: 'look' }),
    ],
    [vista, 'no arguments as none', call({ tool: 't' }), toolCall('t', {})],
    [
      vista,
      'text in place of arguments as one that no tool has',
      call({ tool: 't', arguments: 'find it' }),
      toolCall('t', { arguments: 'find it' }),
    ],
    [
      vista,
      'the first call, read or not',
      `<tool_call>{</tool_call>${call({ tool: 't' })}`,
      invalid('malformedCall'),
    ],
    [vista, 'no call in other words', call({ name: 't', arguments: {} }), invalid('malformedCall')],
    [vista, 'nothing in an open call', '<tool_call>{"tool": "t"}', invalid('noCallNorAnswer')],
    [
      codevision,
      'the first call that can be read',
      `<tool_call>{</tool_call>${call(codeCall)}<answer>7</answer>`,
      toolCall(codeCall.name, codeCall.arguments),
    ],
    [
      codevision,
      'the answer where no call can be read',
      '<tool_call>{</tool_call><answer>7</answer>',
      { kind: 'answer', answer: '7' },
    ],
    [codevision, 'a call without arguments as none', call({ name: 'x' }), invalid('malformedCall')],
    [
      codevision,
      'a call that is cut by a tag in its code as none',
      call({ ...codeCall, arguments: { code: 'print("</tool_call>")' } }),
      invalid('malformedCall'),
    ],
  ])('%s: %s', ({ parse }, _, text, action) => {
    expect(parse(text)).toEqual(action);
  });

  it.each([
    ['a number that JSON cannot write', '{"n": 1e999}'],
    ['nesting that no writer survives', `{"n": ${'['.repeat(40)}${']'.repeat(40)}}`],
  ])('no call with %s', (_, given) => {
    const text = `<tool_call>{"name": "x", "tool": "x", "arguments": ${given}}</tool_call>`;
    expect(vista.parse(text)).toEqual(invalid('malformedCall'));
    expect(codevision.parse(text)).toEqual(invalid('malformedCall'));
  });
});
