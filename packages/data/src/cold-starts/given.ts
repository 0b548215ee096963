/** The cold start from trajectories of a file: a teacher's, another trainer's, or our own. */
import { ConfigError, DataError } from '@saccade/core';
import {
  choice,
  count,
  optionalText,
  quantity,
  type SettingsOf,
  text,
} from '@saccade/core/settings';
import { protocols } from '@saccade/gym';
import { encodeMessage } from '@saccade/rollout';
import { type GivenTokens, type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { z } from 'zod';
import { type ColdStartContext, defineColdStart, type Mixture } from '../cold-start.ts';
import { examplesField, perUpdateField } from '../cold-start-settings.ts';
import { turnedCorpus } from '../corpus.ts';
import type { DialogSample } from '../formats/format.ts';
import type { WordedDialog, WordedTurn } from '../words.ts';

/** Formats of files, in the order in which they are tried where another was named. */
const FORMATS = ['saccade', 'openai', 'llama-factory', 'ms-swift', 'verl'] as const;

const settings = z.strictObject({
  path: text({
    default: 'trajectories.jsonl',
    unit: 'file',
    about: 'Trajectories to learn from; images are found beside it.',
  }),
  format: choice(FORMATS, {
    default: 'saccade',
    about: 'The format of the file.',
  }),
  from: optionalText({
    unit: 'protocol',
    about: 'The protocol that its texts are written in; unset: the run’s, or calls as fields.',
  }),
  examples: examplesField(1_000_000, 'Most trajectories that are learned from, the first ones.'),
  batchSize: perUpdateField(16, 'Trajectories per optimizer update.'),
  onlyRight: choice(['no', 'yes'], {
    default: 'no',
    about: 'Whether trajectories that are marked wrong (isCorrect) are left out.',
  }),
  maxRefused: quantity({
    min: 0,
    max: 1,
    default: 0.5,
    unit: 'fraction of rows',
    about: 'Share of rows that may be refused; more is an error.',
  }),
  tasks: count({
    min: 0,
    max: 1_000_000_000,
    default: 0,
    unit: 'tasks',
    about:
      'Tasks at the front of the training split that it shows; reinforcement learning skips them.',
  }),
});

type Settings = SettingsOf<typeof settings>;

export const given = defineColdStart({
  name: 'given',
  description: 'Trajectories of a file, in the words of the run’s protocol.',
  settings,
  corpus: turnedCorpus,
  taskCount: ({ tasks }) => tasks,
  gather,
});

/** Most refused rows that a warning names. */
const NAMED_ROWS = 3;

async function gather(chosen: Settings, context: ColdStartContext): Promise<readonly Mixture[]> {
  const { path, format, from, examples: most, batchSize, onlyRight, maxRefused } = chosen;
  const { protocol, onEvent } = context;
  const source = from === undefined ? undefined : protocols.get(from);
  // Only now: they read files, which a browser has none of.
  const { readDialogs } = await import('../dialog-formats.ts');
  const { inWordsOf } = await import('../words.ts');
  const examples: Trajectory[] = [];
  const refused: string[] = [];
  let rows = 0;
  let wrong = 0;
  for await (const row of readDialogs(path, format)) {
    if (examples.length >= most) break;
    rows++;
    if (row.kind === 'refused') {
      refused.push(`${row.row}: ${row.reason}`);
      continue;
    }
    const { sample } = row;
    if (onlyRight === 'yes' && sample.tags?.isCorrect === false) {
      wrong++;
      continue;
    }
    try {
      const dialog = inWordsOf(sample, { protocol, ...(source && { from: source }) });
      examples.push(await encodeDialog(sample, dialog, context));
    } catch (error) {
      refused.push(`${row.row}: ${error instanceof Error ? error.message : String(error)}`);
    }
    onEvent({ kind: 'progress', stage: 'given trajectories', done: examples.length });
  }
  const some = refused
    .slice(0, NAMED_ROWS)
    .map((row) => row.replace(/\.$/, ''))
    .join('; ');
  if (refused.length > 0) {
    const message = `${refused.length} of ${rows} rows of ${path} cannot be expressed: ${some}.`;
    if (refused.length > maxRefused * rows) {
      const fitting = refused.length === rows ? await fittingFormat(path, format) : undefined;
      const remedy =
        fitting === undefined
          ? `Convert them, or raise coldStart.maxRefused (${maxRefused}).`
          : `It reads as ${fitting}: set coldStart.format=${fitting}.`;
      throw new DataError(`${message} ${remedy}`);
    }
    onEvent({ kind: 'warning', message });
  }
  if (examples.length === 0) {
    throw new ConfigError('coldStart.path', `coldStart.path: ${path} has nothing to learn from.`);
  }
  if (wrong > 0) onEvent({ kind: 'warning', message: `${wrong} wrong trajectories are left out.` });
  return [{ kind: 'given', examples, perUpdate: batchSize }];
}

/** Another format in which the first row of a file can be read; undefined where none can. */
async function fittingFormat(path: string, format: string): Promise<string | undefined> {
  const { readDialogs } = await import('../dialog-formats.ts');
  for (const other of FORMATS.filter((name) => name !== format)) {
    try {
      for await (const row of readDialogs(path, other)) {
        if (row.kind === 'sample') return other;
        break;
      }
    } catch {
      // Not a file of this format as a whole.
    }
  }
  return undefined;
}

/**
 * The tokens of a conversation, as the policy would have been given and have written them. Turns up to
 * one that was got wrong on purpose (`injectedTurn`) stand in the prompt: nothing teaches the mistake.
 */
async function encodeDialog(
  { id, tags = {} }: DialogSample,
  { system, prompt, turns }: WordedDialog,
  { processor, images, protocol }: ColdStartContext,
): Promise<Trajectory> {
  const { imageToken } = processor;
  const builder = new TrajectoryBuilder({
    ...{ id: `given/${id}`, taskId: id, sampleIndex: 0 },
    ...(imageToken !== undefined && { imageToken }),
  });
  const written = ({ text: said }: WordedTurn) => {
    const ends = !protocol.stop.some((stop) => said.endsWith(stop));
    return { ends, tokens: processor.encodeModelText(said, ends) };
  };
  const observed = (parts: NonNullable<WordedTurn['observation']>, ends: boolean) =>
    encodeMessage(parts, images, processor, (content) =>
      processor.encodeObservation(content, ends),
    );
  const opened: GivenTokens[] = [
    await encodeMessage(prompt, images, processor, (content) =>
      processor.encodePrompt(content, system),
    ),
  ];
  const { injectedTurn } = tags;
  const start = typeof injectedTurn === 'number' ? injectedTurn + 1 : 0;
  for (const turn of turns.slice(0, start)) {
    const { tokens, ends } = written(turn);
    opened.push({ tokens, images: [], text: turn.text });
    if (turn.observation !== undefined) opened.push(await observed(turn.observation, ends));
  }
  builder.prompt(joined(opened));
  for (const turn of turns.slice(start)) {
    const { tokens, ends } = written(turn);
    const logprobs = new Float32Array(tokens.length);
    builder.model({ tokens, logprobs, text: turn.text, policyVersion: 0 });
    builder.turn(turn.action, turn.result);
    if (turn.observation !== undefined) builder.observation(await observed(turn.observation, ends));
  }
  const last = turns.at(-1)?.action.kind;
  if (last === 'answer') return builder.finish('answered');
  return builder.finish(last === 'invalid' ? 'invalidAction' : 'turnLimit');
}

/** Several stretches of a context as one. */
function joined(parts: readonly GivenTokens[]): GivenTokens {
  return {
    tokens: Int32Array.from(parts.flatMap(({ tokens }) => [...tokens])),
    images: parts.flatMap(({ images }) => images),
    text: parts.map(({ text: said }) => said).join(''),
  };
}
