import { describe, expect, it } from 'vitest';
import { cocoClasses } from './coco.ts';
import { type Phrase, readQuery } from './query.ts';

/** A phrase in short: what is looked for. */
function short(phrase: Phrase): string {
  if (phrase.kind === 'unknown') return `? ${phrase.phrase}`;
  if (phrase.kind === 'text') return `"${phrase.text}"`;
  const names = phrase.classes.map((index) => cocoClasses[index]);
  const shown = names.length > 3 ? `${names.length} classes` : names.join('/');
  const unchecked = phrase.unchecked.length > 0 ? ` -${phrase.unchecked.join(',')}` : '';
  return [...phrase.colors, shown].join(' ') + unchecked;
}

describe('a query', () => {
  it.each<[string, readonly string[]]>([
    ['dog', ['dog']],
    ['person . dog . cat .', ['person', 'dog', 'cat']],
    ['a dog, two puppies and the mugs', ['dog', 'dog -two', 'cup']],
    ['the red car', ['red car']],
    ['grey motorbike', ['gray motorcycle']],
    ['women', ['person']],
    ['old man with a blue umbrella', ['person -old,blue,umbrella']],
    ['traffic lights', ['traffic light']],
    ['knives', ['knife']],
    ['fruit', ['banana/apple/orange']],
    ['objects', ['80 classes']],
    ['"Total: 3.50, net"', ['"Total: 3.50, net"']],
    ["the word 'Exit'", ['"Exit"']],
    ['text', ['""']],
    ['label: Gate 7', ['"Gate 7"']],
    ['unicorn', ['? unicorn']],
    ['unicorn and dog', ['? unicorn', 'dog']],
    ['an orange', ['orange']],
    ['orange cat', ['orange cat']],
    ['3.5 apples', ['apple -3,5']],
    ['  . , ; ', []],
    ["rock'n'roll", ["? rock'n'roll"]],
  ])('%s', (query, expected) => {
    expect(readQuery(query).map(short)).toEqual(expected);
  });

  it('fits less the more of its words are not understood', () => {
    const matches = ['dog', 'old dog', 'very old dog'].map((query) => {
      const [phrase] = readQuery(query);
      return phrase?.kind === 'objects' ? phrase.match : 0;
    });
    expect(matches).toEqual([1, 1 / 1.5, 0.5]);
  });

  it('reads no more than twenty phrases', () => {
    expect(readQuery('dog . '.repeat(300))).toHaveLength(20);
  });
});
