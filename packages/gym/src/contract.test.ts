import { describe, expect, it } from 'vitest';
import { protocolContract, taskSetContract } from './contract.ts';
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

  it('catches tasks that change, share an id, or lie about their pictures', async () => {
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

  it('catches a protocol that forgets a picture, or gives two the same name', () => {
    const [prompt, , observation] = protocolContract;
    const blind = {
      ...pyvisionImage,
      prompt: (task: Task) => pyvisionImage.prompt({ ...task, images: [] }),
    };
    expect(() => prompt?.check(blind)).toThrow(/shows \[\]/);
    const forgetful = {
      ...pyvisionImage,
      observe: (outcome: Parameters<typeof pyvisionImage.observe>[0]) =>
        pyvisionImage.observe(outcome, 1),
    };
    expect(() => observation?.check(forgetful)).toThrow(/calls two pictures image_clue_1/);
  });
});
