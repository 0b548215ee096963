import { expect, it } from 'vitest';
import { ChatTemplate } from './chat/chat-template.ts';
import { RecentResults } from './recent-results.ts';
import { TextCodec } from './text-codec.ts';
import { trainTokenizer } from './train-tokenizer.ts';

it('makes a result once, and again after 256 other texts', () => {
  const recent = new RecentResults<string>();
  let made = 0;
  const of = (text: string) =>
    recent.of(text, () => {
      made++;
      return `${text}!`;
    });
  expect([of('a'), of('a'), made]).toEqual(['a!', 'a!', 1]);
  for (let i = 0; i < 255; i++) of(`${i}`);
  expect([of('a'), made]).toEqual(['a!', 256]);
  for (let i = 0; i < 256; i++) of(`other ${i}`);
  expect([of('a'), made]).toEqual(['a!', 513]);
});

it('keeps no long text and no failure', () => {
  const recent = new RecentResults<number>();
  let made = 0;
  const long = 'x'.repeat(5000);
  expect([recent.of(long, () => ++made), recent.of(long, () => ++made)]).toEqual([1, 2]);
  const failing = () => {
    throw new Error('no');
  };
  expect(() => recent.of('a', failing)).toThrow('no');
  expect(recent.of('a', () => 7)).toBe(7);
});

it('never gives tokens that somebody has written to', () => {
  const codec = new TextCodec(JSON.parse(JSON.stringify(trainTokenizer([], 263))));
  const first = codec.encode('look here');
  const copy = [...first];
  first.push(1, 2, 3);
  expect(codec.encode('look here')).toEqual(copy);
});

it('renders a template that asks for the time each time anew', () => {
  const messages = [{ role: 'user', content: 'hello' }];
  const dated = new ChatTemplate("{{ strftime_now('%Y') }} {{ messages[0].content }}");
  const plain = new ChatTemplate('{{ messages[0].content }}{{ add_generation_prompt }}');
  expect(dated.render(messages)).toMatch(/^\d{4} hello$/);
  expect(plain.render(messages)).toBe('hellofalse');
  expect(plain.render(messages, { addGenerationPrompt: true })).toBe('hellotrue');
  expect(plain.render([{ role: 'user', content: 'other' }])).toBe('otherfalse');
});
