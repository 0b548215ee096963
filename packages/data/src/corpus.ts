/** Texts to train a nano policy's tokenizer on: what its contexts are made of. */
import { randomAt } from '@saccade/core';
import {
  cardVideoQuestion,
  type MessagePart,
  needleQuestion,
  type Protocol,
  turnTools,
} from '@saccade/gym';
import { answerText, filmStripText, frameText, lookText, turnText } from './model-text.ts';
import { STRIP_FRAMES, STRIP_STRIDE } from './video-behaviour.ts';

/** An execution that showed a picture. */
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
  const blank = { name: 'image_clue_0', png: new Uint8Array(), width: 448, height: 448 };
  const prompt = protocol.prompt({
    id: 'corpus',
    question: needleQuestion,
    images: [blank],
    answer: '0',
    metadata: {},
  });
  const texts: string[] = [];
  for (let i = 0; i < 64; i++) {
    const place = { imageIndex: 1 + (i % 4), callsLeft: 1 };
    texts.push(...turnTexts(prompt.user), ...turnTexts(protocol.observe(looked, place)));
    const left = 10 * random.integer(60);
    const top = 10 * random.integer(60);
    texts.push(lookText([left, top, left + 28, top + 28]), answerText(String(i % 10)));
    texts.push('assistant\n', '\n');
  }
  return texts;
}

/** The texts of `turned-needle`: those of `needle`, and turns. */
export function turnedCorpus(protocol: Protocol): readonly string[] {
  const turns = Array.from({ length: 12 }, () => turnTools.map(turnText)).flat();
  return [...needleCorpus(protocol), ...turns];
}

/** Prompt with and without given frames, strips, frames, observations and answers of `card-video`. */
export function videoCorpus(protocol: Protocol): readonly string[] {
  const random = randomAt(0, 'video-corpus');
  const frame = { png: new Uint8Array(), width: 56, height: 56 };
  const task = { id: 'corpus', question: cardVideoQuestion, answer: '0', metadata: {} };
  const texts: string[] = [];
  for (let i = 0; i < 64; i++) {
    const given = Array.from({ length: 4 }, (_, k) => ({
      name: `image_clue_${4 * (i % 8) + k}`,
      ...frame,
    }));
    const place = { imageIndex: i % 4, callsLeft: 1 };
    for (const images of [[], given])
      texts.push(...turnTexts(protocol.prompt({ ...task, images }).user));
    texts.push(...turnTexts(protocol.observe(looked, place)));
    texts.push(filmStripText(STRIP_STRIDE, STRIP_FRAMES), frameText(random.integer(96)));
    texts.push(answerText(String(i % 10)), 'assistant\n', '\n');
  }
  return texts;
}

/** The texts of a user turn as they are tokenised: the first one follows the role's name. */
function turnTexts(parts: readonly MessagePart[]): readonly string[] {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return texts.map((text, i) => (i === 0 ? `user\n${text}` : text));
}
