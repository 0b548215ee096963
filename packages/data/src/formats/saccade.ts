/** Our own trajectories: one JSON line each, images beside them. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { optionalText } from '@saccade/core/settings';
import { protocols } from '@saccade/gym';
import {
  isScored,
  type Message,
  parseTrajectoryLine,
  type StoredTrajectory,
  withImages,
} from '@saccade/trajectory';
import { openTrajectoryWriter } from '@saccade/trajectory/files';
import { z } from 'zod';
import { type DialogSample, defineFormat, RowRefused, rowOf, writeRows } from './format.ts';
import { callAction, messagesOf, trajectoryOf } from './trajectory-messages.ts';

/** Tags that hold what a trajectory has no place for. */
const own = ['dialogId', 'dialogTools', 'dialogCalls'];

export const saccade = defineFormat({
  name: 'saccade',
  description: 'Trajectories of Saccade: JSON Lines with images beside them.',
  extensions: ['.jsonl'],
  settings: z.strictObject({
    protocol: optionalText({
      unit: 'protocol',
      about: 'The protocol that the texts are written in, to record actions by; unset: none.',
    }),
  }),
  async *read(path) {
    const input = createReadStream(path, 'utf8');
    let number = 0;
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      if (line.trim() === '') continue;
      yield await rowOf(`${path}:${number}`, async () =>
        sampleOf(
          await withImages(parseTrajectoryLine(line), async (file) => {
            if (file.startsWith('/') || file.split('/').includes('..')) {
              throw new RowRefused(`image ${file} lies outside of the file’s directory`);
            }
            return new Uint8Array(await readFile(join(dirname(path), file)));
          }),
        ),
      );
    }
  },
  async write(path, samples, { protocol }) {
    const speaks = protocol === undefined ? undefined : protocols.get(protocol);
    const writer = await openTrajectoryWriter(path, { startAt: 0 });
    try {
      return await writeRows(path, samples, async (sample) => {
        const hasCalls = sample.messages.some(({ tool_calls: calls }) => calls?.length);
        await writer.write(await trajectoryOf(sample, speaks), {
          ...sample.tags,
          dialogId: sample.id,
          ...(sample.tools && { dialogTools: JSON.stringify(sample.tools) }),
          ...(hasCalls && { dialogCalls: true }),
        });
      });
    } finally {
      await writer.close();
    }
  },
});

/** A stored trajectory as a sample. @throws RowRefused if its turns cannot be read */
export function sampleOf({ trajectory, tags }: StoredTrajectory): DialogSample {
  const { dialogId, dialogTools, dialogCalls } = tags;
  const messages = messagesOf(trajectory);
  const facts = Object.entries(tags).filter(([name]) => !own.includes(name));
  return {
    id: typeof dialogId === 'string' ? dialogId : trajectory.id,
    messages: dialogCalls === true ? withCalls(messages) : messages,
    ...(typeof dialogTools === 'string' && { tools: JSON.parse(dialogTools) as [] }),
    tags: {
      taskId: trajectory.taskId,
      stopReason: trajectory.stopReason,
      ...(isScored(trajectory) && { reward: trajectory.reward, isCorrect: trajectory.isCorrect }),
      ...Object.fromEntries(facts),
    },
  };
}

const callText = /^([\s\S]*?)\n?<tool_call>\n([\s\S]*)\n<\/tool_call>$/;

/** The messages with calls as fields instead of text, and tools that answer them. */
function withCalls(messages: readonly Message[]): readonly Message[] {
  let isCall = false;
  return messages.map((message): Message => {
    if (message.role === 'user' && isCall) {
      isCall = false;
      return { ...message, role: 'tool' };
    }
    if (message.role !== 'assistant' || typeof message.content !== 'string') return message;
    const [, words = '', json] = callText.exec(message.content) ?? [];
    isCall = json !== undefined;
    if (json === undefined) return message;
    const { name, arguments: given } = JSON.parse(json) as { name: string; arguments: string };
    const call = callAction({ function: { name, arguments: given } });
    return {
      role: 'assistant',
      content: words === '' ? null : words,
      tool_calls: [{ function: { name, arguments: call.arguments } }],
    };
  });
}
