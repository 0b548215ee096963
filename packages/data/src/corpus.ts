/** Texts to train a nano policy's tokenizer on: what its contexts are made of. */
import { randomAt } from '@saccade/core';
import {
  cardVideoQuestion,
  codeQuestion,
  type MessagePart,
  needleQuestion,
  type Protocol,
  type Step,
  type Task,
  type ToolNeedleFacts,
  turnTools,
} from '@saccade/gym';
import { refused } from '@saccade/tools';
import { codeText, said } from './code-reading.ts';
import { filmStrip } from './script.ts';
import { planTools } from './tool-behavior.ts';
import { answerText, stepTexts } from './turn-text.ts';

const blank = { name: 'image_clue_0', png: new Uint8Array(), width: 448, height: 448 };
const corpusTask = { id: 'corpus', question: '', answer: '0', metadata: {} };

/** An execution that showed an image. */
const looked = {
  kind: 'ok' as const,
  stdout: '',
  stderr: '',
  images: [{ png: new Uint8Array(), width: 28, height: 28, source: 'image' as const }],
  truncated: [],
  wallMs: 0,
  cpuMs: 0,
  maxRssKb: 0,
  tier: '',
};

/** Prompt, looks, observations and answers of `needle` under a protocol. */
export function needleCorpus(protocol: Protocol): readonly string[] {
  const random = randomAt(0, 'corpus');
  const task = { ...corpusTask, question: needleQuestion, images: [blank] };
  const texts: string[] = [];
  for (let i = 0; i < 64; i++) {
    const place = { imageIndex: 1 + (i % 4), callsLeft: 1 };
    texts.push(...promptTexts(protocol, task), ...turnTexts(protocol.observe(looked, place)));
    const left = 10 * random.integer(60);
    const top = 10 * random.integer(60);
    const look = { kind: 'look', box: [left, top, left + 28, top + 28] } as const;
    texts.push(...stepsOf(protocol, task, [look]), answerText(protocol, String(i % 10)));
    texts.push('assistant\n', '\n');
  }
  return texts;
}

/** The texts of `turned-needle`: those of `needle`, and turns. */
export function turnedCorpus(protocol: Protocol): readonly string[] {
  const once = turnTools.flatMap((tool) =>
    stepsOf(protocol, { ...corpusTask, images: [blank] }, [{ kind: 'turn', tool }]),
  );
  const turns = Array.from({ length: 12 }, () => once).flat();
  return [...needleCorpus(protocol), ...turns];
}

/** The texts of `tool-needle`: questions, calls of every kind, what tools say, answers. */
export function toolCorpus(protocol: Protocol): readonly string[] {
  const random = randomAt(0, 'tool-corpus');
  const mix = {
    answerWithoutLooking: 0,
    lookAtNothing: 0.2,
    answerAfterSeeing: 0.5,
    answerAfterMissing: 0,
    beginsAgain: false,
    maxLooks: 3,
    leaveTurned: 0.3,
    wrongTool: 0.3,
    answerAfterWrongTool: 0,
    slip: 0.2,
    maxCalls: 5,
  };
  const place = () => {
    const [left, top] = [random.integer(400), random.integer(400)];
    return [left, top, left + 28, top + 28] as const;
  };
  const texts: string[] = [];
  for (let i = 0; i < 96; i++) {
    const isCode = i % 3 === 0;
    const question = isCode ? codeQuestion : needleQuestion;
    const turn = i % 3 === 1 ? random.pick(turnTools) : undefined;
    const [box, codeBox] = [place(), place()];
    const kind = isCode ? 'code' : 'digit';
    const facts = { kind, box, codeBox, decoys: [place()], places: [place()] };
    const known = { ...facts, ...(turn && { turn }) } as unknown as ToolNeedleFacts;
    const acts = planTools(known, mix, random, blank.width);
    const observed = { imageIndex: 1 + (i % 3), callsLeft: 1 };
    const task = { ...corpusTask, question, images: [blank] };
    const number = String(100 + random.integer(900));
    texts.push(
      ...promptTexts(protocol, task),
      ...stepTexts(protocol, task, acts),
      ...turnTexts(protocol.observe(looked, observed)),
      ...turnTexts(protocol.observe(said(codeText(number, codeBox)), observed)),
      answerText(protocol, isCode ? number : String(i % 10)),
      ...['assistant\n', '\n'],
    );
    if (i % 16 === 0) {
      texts.push(...turnTexts(protocol.observe(refused('BadArgument', ''), observed)));
    }
  }
  return texts;
}

/** Prompt with and without given frames, strips, frames, observations and answers of `card-video`. */
export function videoCorpus(protocol: Protocol): readonly string[] {
  const random = randomAt(0, 'video-corpus');
  const frame = { png: new Uint8Array(), width: 56, height: 56 };
  const video = { name: 'video_clue_0', encoded: new Uint8Array(), width: 56, height: 56 };
  const videos = [{ ...video, framesPerSecond: 1, frameCount: 96 }];
  const task = { ...corpusTask, question: cardVideoQuestion, videos };
  const texts: string[] = [];
  for (let i = 0; i < 64; i++) {
    const given = Array.from({ length: 4 }, (_, k) => ({
      name: `image_clue_${4 * (i % 8) + k}`,
      ...frame,
    }));
    const place = { imageIndex: i % 4, callsLeft: 1 };
    for (const images of [[], given]) texts.push(...promptTexts(protocol, { ...task, images }));
    texts.push(...turnTexts(protocol.observe(looked, place)));
    const frameStep = { kind: 'frame', index: random.integer(96) } as const;
    texts.push(...stepsOf(protocol, { ...task, images: [] }, [filmStrip, frameStep]));
    texts.push(answerText(protocol, String(i % 10)), 'assistant\n', '\n');
  }
  return texts;
}

/** Steps in the syntax of a protocol, those left out that it cannot express. */
function stepsOf(protocol: Protocol, task: Task, steps: readonly Step[]): readonly string[] {
  const known = steps.filter(({ kind }) => protocol.hand?.[kind] !== undefined);
  return stepTexts(protocol, task, known);
}

/** The texts of a prompt, that of the system first. */
function promptTexts(protocol: Protocol, task: Task): readonly string[] {
  const { system, user } = protocol.prompt(task);
  return [...(system === undefined ? [] : [`system\n${system}`]), ...turnTexts(user)];
}

/** The texts of a user turn as they are tokenized: the first one follows the role's name. */
function turnTexts(parts: readonly MessagePart[]): readonly string[] {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return texts.map((text, i) => (i === 0 ? `user\n${text}` : text));
}
