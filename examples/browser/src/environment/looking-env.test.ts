import type { EnvStep, Task } from '@saccade/gym';
import { describe, expect, it } from 'vitest';
import { cardsTask, factsOf } from '../task/cards.ts';
import { type Box, cutOut, decodePng } from '../task/pixel-image.ts';
import { createLookingEnv } from './looking-env.ts';
import { answerText, toolCallText } from './tool-call.ts';

const task = cardsTask({ cells: 4, cards: 2, symbols: 4 }, 'train', 7);

async function afterReset(toolCalls = 3, of: Task = task) {
  const env = createLookingEnv({ toolCalls });
  const reset = await env.reset(of);
  return { env, reset };
}

function call(name: string, given: Record<string, unknown>): string {
  return toolCallText({ name, arguments: given });
}

function imageOf(step: EnvStep) {
  const part = step.observation?.find(({ kind }) => kind === 'image');
  if (part?.kind !== 'image') throw new Error('the step shows no image');
  return part;
}

async function lookAt(text: string) {
  const { env } = await afterReset();
  return imageOf(await env.step(text));
}

describe('the prompt', () => {
  it('shows the image, names the tools and asks the question', async () => {
    const { reset } = await afterReset();
    expect(reset.user.map(({ kind }) => kind)).toEqual(['text', 'image', 'text']);
    const text = reset.user.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('');
    expect(text).toContain('crop(box), zoom(center,factor)');
    expect(text).toContain(task.question);
    expect(reset.stop).toEqual(['</tool_call>', '</answer>']);
  });
});

describe('crop', () => {
  it('shows exactly the pixels of its box, and where they come from', async () => {
    const box: Box = [28, 3, 61, 40];
    const look = await lookAt(call('crop', { box }));
    const source = decodePng(task.images[0]?.png ?? new Uint8Array());
    expect(decodePng(look.png)).toEqual(cutOut(source, box));
    expect(look).toMatchObject({ width: 33, height: 37, name: 'image_1' });
    expect(look.origin).toEqual({ image: 'image_0', map: [1, 0, 28, 0, 1, 3] });
  });

  it('gives the same bytes for the same box, so that a group prepares them once', async () => {
    const { box } = factsOf(task);
    const [one, other] = [await lookAt(call('crop', { box })), await lookAt(call('crop', { box }))];
    expect(other.png).toBe(one.png);
  });
});

describe('zoom', () => {
  it('shows 1/factor of the image around its center', async () => {
    const look = await lookAt(call('zoom', { center: [42, 70], factor: 4 }));
    expect(look.origin?.map).toEqual([1, 0, 28, 0, 1, 56]);
    expect([look.width, look.height]).toEqual([28, 28]);
  });

  it('moves inwards at an edge', async () => {
    const look = await lookAt(call('zoom', { center: [0, 112], factor: 2 }));
    expect(look.origin?.map).toEqual([1, 0, 0, 0, 1, 56]);
    expect([look.width, look.height]).toEqual([56, 56]);
  });
});

describe('a call that fails', () => {
  it.each([
    ['<tool_call>crop</tool_call>', 'BadJson'],
    ['<tool_call>{"name":"crop"}</tool_call>', 'BadJson'],
    ['<tool_call>[1]</tool_call>', 'BadJson'],
    [call('turn', {}), 'UnknownTool'],
    [call('crop', {}), 'BadArguments'],
    [call('crop', { box: [0, 0, 28] }), 'BadArguments'],
    [call('crop', { box: [0, 0, 28, 27.5] }), 'BadArguments'],
    [call('crop', { box: ['0', 0, 28, 28] }), 'BadArguments'],
    [call('crop', { box: [28, 0, 28, 28] }), 'BadArguments'],
    [call('crop', { box: [0, 0, 113, 28] }), 'OutsidePicture'],
    [call('crop', { box: [-1, 0, 28, 28] }), 'OutsidePicture'],
    [call('zoom', { center: [1], factor: 2 }), 'BadArguments'],
    [call('zoom', { center: [1, 1] }), 'BadArguments'],
    [call('zoom', { center: [1, 1], factor: 99 }), 'BadArguments'],
    [call('zoom', { center: [200, 1], factor: 2 }), 'OutsidePicture'],
  ])('tells the model what is wrong with %s', async (text, type) => {
    const { env } = await afterReset();
    const step = await env.step(text);
    expect(step.result).toMatchObject({ kind: 'exception', errorType: type, imageCount: 0 });
    expect(step.stopReason).toBeUndefined();
    const [part] = step.observation ?? [];
    expect(part).toEqual({ kind: 'text', text: `${type}: ${step.result?.errorMessage}` });
  });
});

describe('the end', () => {
  it('comes with an answer', async () => {
    const { env } = await afterReset();
    const step = await env.step(answerText('ring'));
    expect(step).toEqual({ action: { kind: 'answer', answer: 'ring' }, stopReason: 'answered' });
  });

  it('comes with a turn that neither calls nor answers', async () => {
    const { env } = await afterReset();
    const step = await env.step('<tool_call>{"name":"crop"');
    expect(step).toMatchObject({ action: { kind: 'invalid' }, stopReason: 'invalidAction' });
  });

  it('comes with the call after the last one allowed, failed calls counted', async () => {
    const { env } = await afterReset(2);
    const look = call('crop', { box: [0, 0, 28, 28] });
    expect((await env.step(look)).stopReason).toBeUndefined();
    expect((await env.step('<tool_call>crop</tool_call>')).stopReason).toBeUndefined();
    const last = await env.step(look);
    expect(last.stopReason).toBe('turnLimit');
    expect(last.observation).toBeUndefined();
  });

  it('forgets the task: a step before the next reset is refused', async () => {
    const { env } = await afterReset();
    await env.dispose();
    await expect(env.step(answerText('ring'))).rejects.toThrow('step() before reset()');
  });
});
