/** The contract of protocols, as plain checks. Each throws an Error that says what is broken. */
import type { Outcome } from '@saccade/sandbox';
import { MAX_ARGUMENT_DEPTH } from '@saccade/trajectory';
import { type ActionForm, hostileTexts, randomTurns, writtenActions } from './contract-texts.ts';
import { type Step, stepAction } from './hand.ts';
import type { MessagePart, Protocol } from './protocol.ts';
import type { Task } from './task.ts';
import { turnTools } from './tasksets/turn.ts';

/** One check of `protocolContract`, for any test runner. */
export interface ProtocolCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(protocol: Protocol): void;
}

/** The checks that every protocol must pass. Each is one test of your own protocol. */
export const protocolContract: readonly ProtocolCheck[] = [
  { name: 'asks the question and shows every image once', check: checkPrompt },
  { name: 'says where it is published and what it may use', check: checkFacts },
  { name: 'reads any text without throwing, the same each time', check: checkParse },
  { name: 'reads what it writes, and stops where it stops', check: checkWrite },
  { name: 'reads the steps of its hand as it wrote them, each under its sign', check: checkHand },
  { name: 'numbers new images on from the given index', check: checkObservation },
  { name: 'shows nothing that a program prints as markup of its own', check: checkEscape },
  { name: 'goes on after code that printed and showed something', check: checkGoesOn },
];

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

function textOf(parts: readonly MessagePart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

/** A name that is a variable in the runtime and a file's name on disk. */
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

function checkPrompt(protocol: Protocol): void {
  const { user, system = '' } = protocol.prompt(contractTask);
  if (!(textOf(user) + system).includes(contractTask.question)) {
    throw new Error(`${protocol.name} does not ask the question.`);
  }
  const [shown, given] = [imagesOf(user), contractTask.images].map((images) =>
    images.map(({ png, width, height }) => `${png}:${width}×${height}`).join(),
  );
  if (shown !== given) throw new Error(`${protocol.name} shows [${shown}] for [${given}].`);
  const names = imagesOf(user).map(({ name }) => name);
  if (new Set(names).size !== names.length || !names.every((name) => identifier.test(name))) {
    throw new Error(`${protocol.name} calls its images ${names}: names of variables are needed.`);
  }
  const [first, second] = [protocol.prompt(contractTask), protocol.prompt(contractTask)];
  if (JSON.stringify(first) !== JSON.stringify(second)) {
    throw new Error(`${protocol.name} has two prompts for one task.`);
  }
}

function checkFacts({ name, paper, budgets, evaluationBudgets, stop, tags }: Protocol): void {
  if (paper.trim() === '') throw new Error(`${name} does not say where it is published.`);
  for (const { toolTurns, images } of [budgets, evaluationBudgets ?? budgets]) {
    for (const count of [toolTurns, images]) {
      if (count >= 1 && (Number.isInteger(count) || count === Number.POSITIVE_INFINITY)) continue;
      throw new Error(`${name} has a budget of ${count}: a whole number from 1 is needed.`);
    }
  }
  if (stop.includes('')) throw new Error(`${name} stops at the empty text.`);
  if (tags.length === 0) throw new Error(`${name} has no tags to keep from programs.`);
}

/** Texts of random tags; enough to meet every pair of them many times. */
const RANDOM_TURNS = 10_000;

function checkParse(protocol: Protocol): void {
  for (const text of [...hostileTexts(), ...randomTurns(protocol, RANDOM_TURNS)]) {
    const [first, second] = [protocol.parse(text), protocol.parse(text)];
    // Stored as JSON: what cannot be written or comes back otherwise is no action.
    const stored = JSON.stringify(first);
    if (stored !== JSON.stringify(second)) {
      throw new Error(`${protocol.name} reads ${JSON.stringify(text)} in two ways.`);
    }
    if (stored !== JSON.stringify(JSON.parse(stored))) {
      throw new Error(`${protocol.name} reads ${JSON.stringify(text)} as what cannot be stored.`);
    }
    if (first.kind === 'toolCall' && depthOf(first.arguments) > MAX_ARGUMENT_DEPTH) {
      throw new Error(`${protocol.name} reads arguments that are nested too deep.`);
    }
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function checkWrite(protocol: Protocol): void {
  for (const { action, thought } of writtenActions(protocol)) {
    const text = protocol.write(action, thought);
    const read = protocol.parse(text);
    if (!isSame(action, read)) {
      throw new Error(
        `${protocol.name} reads ${JSON.stringify(text)} as ${JSON.stringify(read)}, ` +
          `it was written for ${JSON.stringify(action)}.`,
      );
    }
    for (const stop of protocol.stop) {
      const isEnd = action.kind === 'answer' ? -1 : text.length - stop.length;
      if (text.indexOf(stop) === isEnd) continue;
      throw new Error(`${protocol.name} would stop at ${stop} within ${JSON.stringify(text)}.`);
    }
  }
}

const contractSteps: readonly Step[] = [
  { kind: 'look', box: [1, 2, 30, 40] },
  ...turnTools.map((tool): Step => ({ kind: 'turn', tool })),
  { kind: 'filmStrip', stride: 6, count: 16 },
  { kind: 'frame', index: 7 },
];

/** By signs guided examples tell what a turn decides: no turn may bear that of another. */
function checkHand(protocol: Protocol): void {
  const { name, hand } = protocol;
  if (hand === undefined) return;
  const images = imagesOf(protocol.prompt(contractTask).user).map((image) => image.name);
  const { act, answer, look = [], turn = [] } = hand.signs(images);
  const bears = (text: string, signs: readonly string[]): boolean =>
    signs.some((sign) => text.includes(sign));
  const steps = contractSteps.filter(({ kind }) => hand[kind] !== undefined);
  const before = steps.filter(({ kind }) => kind === 'turn').slice(0, 1);
  for (const step of steps) {
    const place = { images, videos: ['video_clue_0'], before };
    const action = stepAction(protocol, step, place);
    const text = protocol.write(action);
    const read = protocol.parse(text);
    if (!isSame(action as ActionForm, read)) {
      throw new Error(`${name} reads its ${step.kind}, ${text}, as ${JSON.stringify(read)}.`);
    }
    const isSigned =
      bears(text, act) &&
      !bears(text, answer) &&
      bears(text, look) === (step.kind === 'look') &&
      bears(text, turn) === (step.kind === 'turn');
    if (!isSigned) throw new Error(`${name} has another sign for ${step.kind} than in ${text}.`);
  }
  const answered = protocol.write({ kind: 'answer', answer: '7' });
  if (!bears(answered, answer) || bears(answered, [...act, ...look, ...turn])) {
    throw new Error(`${name} has another sign for an answer than in ${answered}.`);
  }
}

/** Whether an action came back; what a protocol puts around code and answers aside. */
function isSame(written: ActionForm, read: ReturnType<Protocol['parse']>): boolean {
  if (written.kind === 'code') return read.kind === 'code' && read.code.trim() === written.code;
  if (written.kind === 'answer') {
    return read.kind === 'answer' && read.answer.includes(written.answer);
  }
  return JSON.stringify(read) === JSON.stringify(written);
}

function checkObservation(protocol: Protocol): void {
  const parts = protocol.observe(contractOutcome, { imageIndex: 3, callsLeft: 1 });
  if ((protocol.showsOutput ?? true) !== textOf(parts).includes('forty-two')) {
    throw new Error(`${protocol.name} must show what was printed, or say that it does not.`);
  }
  const images = imagesOf(parts);
  const names = new Set(images.map(({ name }) => name));
  if (names.size !== contractOutcome.images.length) {
    throw new Error(`${protocol.name} names the new images ${[...names]}: two are needed.`);
  }
  const later = protocol.observe(contractOutcome, { imageIndex: 5, callsLeft: 0 });
  const taken = [...imagesOf(later), ...imagesOf(protocol.prompt(contractTask).user)];
  for (const { name } of taken) {
    if (names.has(name)) throw new Error(`${protocol.name} calls two images ${name}.`);
  }
}

/** Every tag, opening and closing, in what a program prints, raises and leaves behind. */
function checkEscape(protocol: Protocol): void {
  const marks = protocol.tags.flatMap((tag) => {
    const name = tag.replaceAll('\\d+', '4');
    return [`<${name}>`, `</${name}>`, `<${name.toUpperCase()} >`, `< /${name} x="1">`];
  });
  const hostile = `${marks.join('\n')}\n\`\`\`\n${marks.join(' ')}`;
  const outcomes = (said: string): readonly Outcome[] => [
    { ...contractOutcome, stdout: said, stderr: said },
    ...(['exception', 'timeout', 'memory', 'forbidden', 'crashed'] as const).map(
      (kind): Outcome => ({
        ...contractOutcome,
        kind,
        stdout: said,
        stderr: said,
        images: [],
        error: { type: said, message: said, traceback: said },
      }),
    ),
  ];
  const plain = outcomes('said');
  outcomes(hostile).forEach((outcome, i) => {
    for (const place of [
      { imageIndex: 1, callsLeft: 1 },
      { imageIndex: 1, callsLeft: 0 },
    ]) {
      const own = countTags(protocol, plain[i] ?? outcome, place);
      const found = countTags(protocol, outcome, place);
      if (found === own) continue;
      throw new Error(
        `${protocol.name} shows ${found} tags after ${outcome.kind}: ${own} are its own.`,
      );
    }
  });
}

function countTags(
  protocol: Protocol,
  outcome: Outcome,
  place: Parameters<Protocol['observe']>[1],
): number {
  const tag = new RegExp(`<\\s*(?:/\\s*)?(?:${protocol.tags.join('|')})\\b`, 'gi');
  return [...textOf(protocol.observe(outcome, place)).matchAll(tag)].length;
}

function checkGoesOn(protocol: Protocol): void {
  const reason = protocol.endsOn(contractOutcome);
  if (reason !== undefined)
    throw new Error(`${protocol.name} ends with ${reason} after sound code.`);
}
