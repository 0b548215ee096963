/**
 * What every task set and every protocol must keep, as plain checks: each throws an Error that says
 * what broke.
 */
import { createHash } from 'node:crypto';
import type { Outcome } from '@saccade/sandbox';
import type { MessagePart, Protocol } from './protocol.ts';
import type { Split, Task, TaskSet } from './task.ts';

export interface TaskSetCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(taskSet: TaskSet): Promise<void>;
}

export interface ProtocolCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(protocol: Protocol): void;
}

export const taskSetContract: readonly TaskSetCheck[] = [
  { name: 'gives the same task for the same index', check: checkStable },
  { name: 'gives every task an id of its own, in both splits', check: checkIds },
  { name: 'asks a question with an answer and pictures that are PNG files', check: checkWhole },
];

export const protocolContract: readonly ProtocolCheck[] = [
  { name: 'asks the question and shows every picture once', check: checkPrompt },
  { name: 'reads any text without throwing, the same each time', check: checkParse },
  { name: 'numbers new pictures on from the given index', check: checkObservation },
  { name: 'goes on after code that printed and showed something', check: checkGoesOn },
];

const splits: readonly Split[] = ['train', 'heldOut'];
const sampled = 6;

async function tasksOf(taskSet: TaskSet, split: Split): Promise<readonly Task[]> {
  const count = Math.min(sampled, taskSet.size(split));
  if (!(count >= 1)) throw new Error(`${taskSet.name} has no tasks in ${split}.`);
  return await Promise.all(Array.from({ length: count }, (_, i) => taskSet.task(split, i)));
}

async function checkStable(taskSet: TaskSet): Promise<void> {
  for (const split of splits) {
    const [first, second] = [await tasksOf(taskSet, split), await tasksOf(taskSet, split)];
    first.forEach((task, index) => {
      if (fingerprint(task) === fingerprint(second[index])) return;
      throw new Error(`${taskSet.name} gives two tasks for index ${index} of ${split}.`);
    });
  }
}

/** Everything in a task as text, with its pictures' bytes as a digest. */
function fingerprint(task: Task | undefined): string {
  const images = task?.images.map(({ png, ...rest }) => {
    return { ...rest, digest: createHash('sha256').update(png).digest('hex') };
  });
  return JSON.stringify({ ...task, images });
}

async function checkIds(taskSet: TaskSet): Promise<void> {
  const seen = new Set<string>();
  for (const split of splits) {
    for (const { id } of await tasksOf(taskSet, split)) {
      if (seen.has(id)) throw new Error(`${taskSet.name} calls two tasks ${id}.`);
      seen.add(id);
    }
  }
}

async function checkWhole(taskSet: TaskSet): Promise<void> {
  for (const split of splits) {
    for (const task of await tasksOf(taskSet, split)) {
      if (task.question.trim() === '') throw new Error(`Task ${task.id} asks nothing.`);
      if (task.answer.trim() === '') throw new Error(`Task ${task.id} has no answer.`);
      const names = new Set(task.images.map((image) => image.name));
      if (names.size !== task.images.length) {
        throw new Error(`Task ${task.id} has two pictures of the same name.`);
      }
      for (const { name, png, width, height } of task.images) {
        const [foundWidth, foundHeight] = pngSize(png) ?? [];
        if (foundWidth === width && foundHeight === height) continue;
        throw new Error(
          `Picture ${name} of ${task.id} must be a PNG file of ${width}×${height}, got ` +
            `${foundWidth === undefined ? 'something else' : `${foundWidth}×${foundHeight}`}.`,
        );
      }
    }
  }
}

/** Width and height from a PNG file's header; undefined if it is none. */
function pngSize(bytes: Uint8Array): readonly [number, number] | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.length < 24 || buffer.toString('latin1', 1, 4) !== 'PNG') return undefined;
  return [buffer.readUInt32BE(16), buffer.readUInt32BE(20)];
}

const contractTask: Task = {
  id: 'contract',
  question: 'Which of the two is larger?',
  images: ['image_clue_0', 'image_clue_1'].map((name, i) => ({
    name,
    png: Uint8Array.of(i),
    width: 640 + i,
    height: 480,
  })),
  answer: 'the first',
  metadata: {},
};

const contractOutcome: Outcome = {
  kind: 'ok',
  stdout: 'forty-two\n',
  stderr: '',
  images: [1, 2].map((i) => ({ png: Uint8Array.of(i), width: 9, height: 9, source: 'image' })),
  truncated: [],
  wallMs: 1,
  cpuMs: 1,
  maxRssKb: 1,
  tier: 'contract',
};

function imagesOf(parts: readonly MessagePart[]): readonly (MessagePart & { kind: 'image' })[] {
  return parts.filter((part) => part.kind === 'image');
}

function checkPrompt(protocol: Protocol): void {
  const { user, system = '' } = protocol.prompt(contractTask);
  const text = user.map((part) => (part.kind === 'text' ? part.text : '')).join('') + system;
  if (!text.includes(contractTask.question)) {
    throw new Error(`${protocol.name} does not ask the question.`);
  }
  const [shown, given] = [imagesOf(user), contractTask.images].map((images) =>
    images.map(({ name, png }) => `${name}:${png}`).join(),
  );
  if (shown !== given) throw new Error(`${protocol.name} shows [${shown}] for [${given}].`);
}

const anyText = [
  '',
  ' \n',
  'no tags',
  '<code>',
  '</answer><answer>',
  '<answer></answer>',
  '<code>```python```</code>',
  '```python\n',
  '\ud800',
  '<code>'.repeat(500),
];

function checkParse(protocol: Protocol): void {
  for (const text of anyText) {
    const [first, second] = [protocol.parse(text), protocol.parse(text)];
    if (JSON.stringify(first) !== JSON.stringify(second)) {
      throw new Error(`${protocol.name} reads ${JSON.stringify(text)} in two ways.`);
    }
  }
}

function checkObservation(protocol: Protocol): void {
  const parts = protocol.observe(contractOutcome, 3);
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  if (!text.includes('forty-two')) throw new Error(`${protocol.name} hides what was printed.`);
  const images = imagesOf(parts);
  const names = new Set(images.map(({ name }) => name));
  if (names.size !== contractOutcome.images.length) {
    throw new Error(`${protocol.name} names the new pictures ${[...names]}: two are needed.`);
  }
  const next = new Set(imagesOf(protocol.observe(contractOutcome, 5)).map(({ name }) => name));
  for (const name of names) {
    if (next.has(name)) throw new Error(`${protocol.name} calls two pictures ${name}.`);
  }
}

function checkGoesOn(protocol: Protocol): void {
  const reason = protocol.endsOn(contractOutcome);
  if (reason !== undefined)
    throw new Error(`${protocol.name} ends with ${reason} after sound code.`);
}
