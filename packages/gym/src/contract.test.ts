import { describe, expect, it } from 'vitest';
import { protocolContract, taskSetContract } from './contract.ts';
import { handOf } from './hand.ts';
import type { Protocol } from './protocol.ts';
import { pyvisionImage } from './protocols/pyvision-image.ts';
import { protocols, taskSets } from './registry.ts';
import type { Task, TaskSet } from './task.ts';
import { needle } from './tasksets/needle.ts';

describe.each(taskSets.entries())('%s', (_, taskSet) => {
  it.each(taskSetContract)('$name', ({ check }) => check(taskSet));
});

describe.each(protocols.entries())('%s', (_, protocol) => {
  it.each(protocolContract)('$name', ({ check }) => check(protocol));
});

describe('the contract', () => {
  const changed = (change: (task: Task, call: number) => Task): TaskSet => {
    let calls = 0;
    return {
      ...needle,
      task: async (split, index) => change(await needle.task(split, index), calls++),
    };
  };
  const failures = async (taskSet: TaskSet): Promise<readonly string[]> => {
    const messages: string[] = [];
    for (const { check } of taskSetContract) {
      await check(taskSet).catch((error: Error) => messages.push(error.message));
    }
    return messages;
  };

  it('catches tasks that change, share an id, or lie about their images', async () => {
    const unstable = changed((task, call) => ({ ...task, answer: String(call) }));
    expect(await failures(unstable)).toEqual(['needle gives two tasks for index 0 of train.']);
    const nameless = changed((task) => ({ ...task, id: 'same' }));
    expect(await failures(nameless)).toEqual(['needle calls two tasks same.']);
    const wide = changed((task) => ({
      ...task,
      images: task.images.map((image) => ({ ...image, width: 1 })),
    }));
    expect((await failures(wide))[0]).toMatch(/must be a PNG file of 1×448, got 448×448/);
  });

  it.each<[string, RegExp, Partial<Protocol>]>([
    [
      'forgets an image',
      /shows \[\]/,
      { prompt: (task) => pyvisionImage.prompt({ ...task, images: [] }) },
    ],
    [
      'gives two images the same name',
      /calls two images image_clue_1/,
      {
        observe: (outcome, place) => pyvisionImage.observe(outcome, { ...place, imageIndex: 1 }),
      },
    ],
    ['does not say where it is from', /where it is published/, { paper: ' ' }],
    ['has no budget', /budget of 0/, { budgets: { toolTurns: 0, images: 1 } }],
    ['throws at a text', /Unexpected|JSON/, { parse: (text) => JSON.parse(text) }],
    [
      'reads one text in two ways',
      /in two ways/,
      { parse: () => ({ kind: 'answer', answer: String(counted++) }) },
    ],
    [
      'cannot read what it writes',
      /it was written for/,
      { write: () => '<code>\n```python\nother\n```\n</code>' },
    ],
    [
      'shows a tag that was printed',
      /tags after ok/,
      { observe: (outcome) => [{ kind: 'text', text: outcome.stdout }] },
    ],
    [
      'has one sign for looks and answers',
      /another sign for look/,
      { hand: { ...handOf(pyvisionImage, []), signs: () => ({ act: ['<'], answer: ['<'] }) } },
    ],
    ['never goes on', /ends with toolError/, { endsOn: () => 'toolError' }],
  ])('catches a protocol that %s', (_, message, change) => {
    const broken = { ...pyvisionImage, ...change };
    const messages = protocolContract.map(({ check }) => {
      try {
        check(broken);
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(messages.join('\n')).toMatch(message);
  });
});

let counted = 0;
