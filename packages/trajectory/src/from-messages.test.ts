import { describe, expect, it } from 'vitest';
import { checkTrajectory } from './check.ts';
import { trajectoryFromMessages } from './from-messages.ts';
import { formatTrajectoryLine, parseTrajectoryLine } from './json.ts';
import type { Message } from './messages.ts';

/** The start of a PNG of the given size; nobody decodes it here. */
function png(width: number, height: number): Uint8Array {
  const bytes = new Uint8Array(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const view = new DataView(bytes.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes;
}
const dataUrl = (bytes: Uint8Array) =>
  `data:image/png;base64,${btoa(String.fromCharCode(...bytes))}`;

const call = (id: string, args: string | object) => ({
  id,
  type: 'function',
  function: { name: 'crop', arguments: args as string },
});

const conversation: readonly Message[] = [
  { role: 'system', content: 'Look closely.' },
  {
    role: 'user',
    content: [
      { type: 'image', image: png(640, 480) },
      { type: 'text', text: 'Which digit?' },
    ],
  },
  {
    role: 'assistant',
    content: 'Closer.',
    tool_calls: [call('a', '{"box":[1,2,3,4]}'), call('b', { box: [5, 6, 7, 8] })],
  },
  { role: 'tool', tool_call_id: 'b', content: 'nothing', result: { kind: 'timeout' } },
  {
    role: 'tool',
    tool_call_id: 'a',
    content: [{ type: 'image_url', image_url: { url: dataUrl(png(2, 2)) }, name: 'crop_0' }],
  },
  { role: 'assistant', content: ' 7\n' },
];

describe('a trajectory from messages', () => {
  it('has a turn for every call, its own result, and the images where they were', () => {
    const made = trajectoryFromMessages(conversation, { taskId: 'card', sampleIndex: 3 });
    checkTrajectory(made);
    expect(made).toMatchObject({ id: 'card/3', stopReason: 'answered', answer: '7' });
    expect(made.turns.map(({ action, result }) => [action, result?.kind])).toEqual([
      [{ kind: 'toolCall', name: 'crop', arguments: { box: [1, 2, 3, 4] } }, 'ok'],
      [{ kind: 'toolCall', name: 'crop', arguments: { box: [5, 6, 7, 8] } }, 'timeout'],
      [{ kind: 'answer', answer: '7' }, undefined],
    ]);
    expect(
      made.segments.map(({ images }) => images.map(({ name, width }) => [name, width])),
    ).toEqual([[['image_0', 640]], [], [['crop_0', 2]], [], [], []]);
    expect(made.segments[0]?.text).toBe('Look closely.\nWhich digit?');
    expect(made.segments[1]?.text).toMatch(/^Closer\.\n<tool_call>\n\{"name":"crop"/);
    expect(made.segments[3]?.text).toMatch(/^<tool_call>/);
    expect(made.turns[1]?.result?.stdout).toBe('nothing');
  });

  it('says where its tokens come from, on disk too', () => {
    const bytes = trajectoryFromMessages(conversation);
    const encode = (text: string) => text.split(/\s+/).map((word) => word.length);
    const encoded = trajectoryFromMessages(conversation, { encode });
    expect([bytes.tokenSource, encoded.tokenSource]).toEqual(['bytes', 'encoded']);
    expect(Array.from(encoded.segments[0]?.tokens ?? [])).toEqual([0, 4, 8, 5, 6]);
    const line = formatTrajectoryLine(encoded, ({ name }) => `${name}.png`);
    expect(parseTrajectoryLine(line).trajectory).toMatchObject({ tokenSource: 'encoded' });
  });

  it('reads text by the protocol it is given, and ends as its last turn does', () => {
    const parse = (text: string) =>
      text.startsWith('run ')
        ? ({ kind: 'code', code: text.slice(4) } as const)
        : ({ kind: 'invalid', reason: 'noCode' } as const);
    const said = (content: string): Message => ({ role: 'assistant', content });
    const question: Message = { role: 'user', content: 'Q' };
    const seen: Message = { role: 'user', content: '3' };
    const made = trajectoryFromMessages([question, said('run 1+2'), seen, said('run 3')], {
      parse,
    });
    expect(made.turns[0]).toMatchObject({
      action: { kind: 'code', code: '1+2' },
      result: { kind: 'ok', stdout: '3', imageCount: 0 },
    });
    expect([made.stopReason, made.turns[1]?.result]).toEqual(['turnLimit', undefined]);
    expect(trajectoryFromMessages([question, said('hm')], { parse }).stopReason).toBe(
      'invalidAction',
    );
    const shots = [question, said('an example'), seen, said('the answer')];
    expect(trajectoryFromMessages(shots).turns[0]?.action.kind).toBe('invalid');
    expect(trajectoryFromMessages(shots, { promptMessages: 3 })).toMatchObject({
      answer: 'the answer',
      segments: [{ text: 'Q\nan example\n3' }, {}],
    });
    const last = trajectoryFromMessages([question, said('run 3'), seen], { parse });
    expect([last.segments.length, last.turns[0]?.result?.stdout]).toEqual([2, '3']);
  });

  const user: Message = { role: 'user', content: 'Q' };
  const assistant: Message = { role: 'assistant', content: 'A' };
  const jpeg: Message = {
    role: 'user',
    content: [{ type: 'image', image: Uint8Array.of(255, 216) }],
  };
  const remote: Message = {
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
  };
  const calling: Message = { role: 'assistant', tool_calls: [call('a', '{"x":1}')] };
  it.each<[string, readonly Message[], RegExp]>([
    ['nothing', [], /the roles are none/],
    ['no assistant', [user], /must be the assistant's, .* the roles are user/],
    ['no prompt', [assistant], /messages\[0\] is the assistant's/],
    ['two of the assistant', [user, assistant, assistant], /messages\[1\] and the next/],
    ['a JPEG', [jpeg, assistant], /messages\[0\]: an image is no PNG.*sharp/],
    ['an address', [remote, assistant], /messages\[0\]: an image is at "https:/],
    [
      'arguments that are no JSON',
      [user, { role: 'assistant', tool_calls: [call('a', '{')] }],
      /messages\[1\]: the arguments of crop are not JSON/,
    ],
    [
      'arguments that are no object',
      [user, { role: 'assistant', tool_calls: [call('a', '[1]')] }],
      /must be an object/,
    ],
    ['a call unanswered', [user, calling, user, assistant], /no tool message answers call 0/],
    [
      'an answer to no call',
      [user, calling, { role: 'tool', tool_call_id: 'a' }, { role: 'tool', tool_call_id: 'z' }],
      /answers none of its 1 calls/,
    ],
  ])('refuses %s, and names the message', (_, messages, fact) => {
    expect(() => trajectoryFromMessages(messages)).toThrow(fact);
  });
});
