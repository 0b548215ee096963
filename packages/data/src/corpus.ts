/** Texts to train a nano policy's tokenizer on: what its contexts are made of. */
import { randomAt } from '@saccade/core';
import { type MessagePart, needleQuestion, type Protocol, turnTools } from '@saccade/gym';
import { answerText, lookText, turnText } from './model-text.ts';

/** Prompt, looks, observations and answers of `needle` under a protocol. */
export function needleCorpus(protocol: Protocol): readonly string[] {
  const random = randomAt(0, 'corpus');
  const blank = { name: 'image_clue_0', png: new Uint8Array(), width: 448, height: 448 };
  const image = { png: new Uint8Array(), width: 28, height: 28, source: 'image' as const };
  const outcome = {
    kind: 'ok' as const,
    stdout: '',
    stderr: '',
    images: [image],
    truncated: [],
    wallMs: 0,
    cpuMs: 0,
    maxRssKb: 0,
    tier: '',
  };
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
    texts.push(...turnTexts(prompt.user), ...turnTexts(protocol.observe(outcome, place)));
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

/** The texts of a user turn as they are tokenised: the first one follows the role's name. */
function turnTexts(parts: readonly MessagePart[]): readonly string[] {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return texts.map((text, i) => (i === 0 ? `user\n${text}` : text));
}
