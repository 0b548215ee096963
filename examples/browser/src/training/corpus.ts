/** The tokenizer of the example: what contexts are made of, in as few tokens as decisions need. */
import { trainTokenizer } from '@saccade/policy';
import { errorText, promptOf } from '../environment/looking-env.ts';
import { parseToolCall, ToolError } from '../environment/tool-call.ts';
import { lookOf } from '../environment/tools.ts';
import { type CardsOptions, cardsTask } from '../task/cards.ts';
import { symbols } from '../task/symbols.ts';

/** Tokens at most; there are fewer where the texts offer no more merges. */
const VOCABULARY = 1024;
/** Everything occurs as often, and often enough for all of it to be merged. */
const REPEATS = 4;

/** One call of every kind that fails, so that the errors the model sees are short. */
const FAILING_CALLS = [
  'crop',
  '{"name":"crop"}',
  '{"name":"turn","arguments":{}}',
  '{"name":"crop","arguments":{}}',
  '{"name":"zoom","arguments":{}}',
  '{"name":"zoom","arguments":{"center":[1,1]}}',
  '{"name":"crop","arguments":{"box":[1,1,1,1]}}',
  '{"name":"crop","arguments":{"box":[0,0,999,999]}}',
  '{"name":"zoom","arguments":{"center":[999,999],"factor":2}}',
];

/**
 * Calls are cut where something is to decide: whether to look, with which tool, where. An answer is
 * apart from the decision to give one.
 */
const TURN_PIECES = [
  '<tool_call>{"name":"',
  'crop","arguments":{"box":[',
  'zoom","arguments":{"center":[',
  '],"factor":',
  ']}}</tool_call>',
  '}}</tool_call>',
  '<answer>',
  '</answer>',
  'assistant\n',
];

export function makeTokenizer(options: CardsOptions): Record<string, unknown> {
  const task = cardsTask(options, 'train', 0);
  const size = task.images[0] ?? { width: 0, height: 0 };
  const prompt = promptOf(task).flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const given = [...prompt, 'image_1: ', ...FAILING_CALLS.map((call) => failure(call, size))];
  const texts = [
    ...given.map((text, index) => (index === 1 ? text : `user\n${text}`)),
    ...TURN_PIECES,
    ...symbols.map(({ name }) => name),
  ];
  return trainTokenizer(Array.from({ length: REPEATS }, () => texts).flat(), VOCABULARY);
}

function failure(call: string, size: { readonly width: number; readonly height: number }): string {
  try {
    lookOf(parseToolCall(call), size);
    return '';
  } catch (error) {
    if (error instanceof ToolError) return errorText(error);
    throw error;
  }
}
