/** LLaMA-Factory's JSON: `sharegpt` (conversations or messages) and `alpaca`. */
import { choice } from '@saccade/core/settings';
import type { Message } from '@saccade/trajectory';
import { z } from 'zod';
import { type DialogSample, defineFormat, RowRefused, writeRows } from './format.ts';
import { ImageFolder } from './image-files.ts';
import {
  type JsonRow,
  listIn,
  openJsonRows,
  readJsonRows,
  tagsIn,
  textIn,
  toolsIn,
} from './json-rows.ts';
import { imagesIn } from './ms-swift.ts';
import { messagesOfTurns, type RoleTurn, roleTurns } from './role-rows.ts';

const names = {
  system: 'system',
  user: 'human',
  assistant: 'gpt',
  call: 'function_call',
  response: 'observation',
};
/** Files with OpenAI's tags in `dataset_info.json`. */
const openAiTags: Readonly<Record<string, string>> = {
  user: 'human',
  assistant: 'gpt',
  function: 'function_call',
  tool: 'observation',
};
const known = [
  ...['id', 'conversations', 'messages', 'system', 'tools', 'images'],
  ...['instruction', 'input', 'output', 'history'],
];

export const llamaFactory = defineFormat({
  name: 'llama-factory',
  description: 'LLaMA-Factory’s JSON: sharegpt conversations, or alpaca instructions.',
  extensions: ['.json', '.jsonl'],
  settings: z.strictObject({
    style: choice(['sharegpt', 'alpaca'], {
      default: 'sharegpt',
      about: 'The style that is written; both are read.',
    }),
  }),
  read: (path) => readJsonRows(path, (row, id) => sampleOf(row, id, path)),
  async write(path, samples, { style }) {
    const folder = new ImageFolder(path);
    const file = await openJsonRows(path, path.endsWith('.jsonl'));
    try {
      return await writeRows(path, samples, async ({ id, messages, tools, tags }) => {
        const [first, ...rest] = messages;
        const system = first?.role === 'system' ? first : undefined;
        const { turns, images } = roleTurns(system ? rest : messages, names);
        const before = system === undefined ? undefined : roleTurns([system], names).turns[0]?.text;
        const row = style === 'alpaca' ? alpacaRow(turns) : sharegptRow(turns);
        const kept = await Promise.all(images.map((png) => folder.keep(png)));
        await file.write({
          ...{ ...tags, id, ...row },
          ...(before !== undefined && { system: before }),
          ...(tools && { tools: JSON.stringify(tools) }),
          ...(kept.length > 0 && { images: kept }),
        });
      });
    } finally {
      await file.close();
    }
  },
});

/** LLaMA-Factory reads turns in pairs, and passes over rows that are none. */
function checkPairs(turns: readonly RoleTurn[]): void {
  turns.forEach(({ role }, index) => {
    const asks = role === names.user || role === names.response;
    if (asks === (index % 2 === 0)) return;
    throw new RowRefused(`turn ${index} is ${role}, but questions and replies must take turns`);
  });
  if (turns.length === 0 || turns.length % 2 !== 0) {
    throw new RowRefused(`it has ${turns.length} turns, but must end with a reply`);
  }
}

function sharegptRow(turns: readonly RoleTurn[]): object {
  checkPairs(turns);
  return { conversations: turns.map(({ role, text }) => ({ from: role, value: text })) };
}

function alpacaRow(turns: readonly RoleTurn[]): object {
  checkPairs(turns);
  if (turns.some(({ role }) => role === names.call || role === names.response)) {
    throw new RowRefused('alpaca has no tool calls; write sharegpt');
  }
  const texts = turns.map(({ text }) => text);
  const [instruction, output] = texts.slice(-2);
  const history = Array.from({ length: texts.length / 2 - 1 }, (_, i) =>
    texts.slice(2 * i, 2 * i + 2),
  );
  return { instruction, input: '', output, ...(history.length > 0 && { history }) };
}

async function sampleOf(row: JsonRow, fallback: string, path: string): Promise<DialogSample> {
  const turns = turnsIn(row);
  const system = textOr(row.system);
  const head: readonly Message[] = system === '' ? [] : [{ role: 'system', content: system }];
  const messages = [...head, ...messagesOfTurns(turns, await imagesIn(row.images, path), names)];
  const id = typeof row.id === 'string' ? row.id : fallback;
  return { id, messages, ...toolsIn(row.tools), ...tagsIn(row, known) };
}

function turnsIn(row: JsonRow): readonly RoleTurn[] {
  if (row.instruction !== undefined) {
    const history = row.history == null ? [] : (listIn(row.history, 'history') as string[][]);
    const ask = [textIn(row.instruction, 'instruction'), textOr(row.input)].filter((t) => t !== '');
    const pairs = [...history, [ask.join('\n'), textIn(row.output, 'output')]];
    return pairs.flatMap(([question, reply]) => [
      { role: names.user, text: textIn(question, 'a question of history') },
      { role: names.assistant, text: textIn(reply, 'a reply of history') },
    ]);
  }
  const given = row.conversations ?? row.messages;
  return (listIn(given, 'conversations') as readonly JsonRow[]).map((turn, at) => {
    const role = textIn(turn.from ?? turn.role, `conversations[${at}].from`);
    const text = textIn(turn.value ?? turn.content, `conversations[${at}].value`);
    return { role: openAiTags[role] ?? role, text };
  });
}

const textOr = (value: unknown): string => (typeof value === 'string' ? value : '');
