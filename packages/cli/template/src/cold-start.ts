/** The cold start: scripted demonstrations that teach a small model to call the tool and to answer. */
import { count, z } from '@saccade/core/settings';
import { defineColdStart, demonstrate } from '@saccade/data';
import type { MessagePart } from '@saccade/gym';
import { question } from './tasks.ts';
import { boostContrast } from './tool.ts';

const settings = z.strictObject({
  demonstrations: count({
    min: 1,
    max: 100_000,
    default: 48,
    unit: 'demonstrations',
    about: 'Tasks that are shown; reinforcement learning begins after them.',
  }),
  batchSize: count({
    min: 1,
    max: 1024,
    default: 8,
    unit: 'demonstrations',
    about: 'Demonstrations in an update.',
  }),
});

/** A call of the tool; the run's protocol writes it in its own syntax. */
const call = { kind: 'toolCall', name: boostContrast.name, arguments: {} } as const;

export const oneLook = defineColdStart({
  name: 'one-look',
  description: 'One call of the tool, then the answer.',
  settings,
  // The tokenizer of the small model is trained on these texts: what its contexts are made of.
  corpus(protocol) {
    const blank = { name: 'image_0', png: new Uint8Array(), width: 56, height: 56 };
    const task = { id: 'corpus', question, images: [blank], answer: 'left', metadata: {} };
    const { system = '', user } = protocol.prompt(task);
    const answers = ['left', 'right'].map((side) => `<answer>\n\\boxed{${side}}\n</answer>`);
    const texts = [`system\n${system}`, ...textsOf(user), protocol.write(call), ...answers];
    return Array.from({ length: 16 }, () => [...texts, 'user\n', 'assistant\n', '\n']).flat();
  },
  taskCount: ({ demonstrations }) => demonstrations,
  async gather({ demonstrations, batchSize }, context) {
    const { taskSet, protocol, makeEnv, images, processor, seed, concurrency, onEvent } = context;
    const examples = await demonstrate({
      taskSet,
      protocol,
      makeEnv,
      images,
      processor,
      seed,
      concurrency,
      onEvent,
      count: demonstrations,
      // Half of the demonstrations guess: what looking is worth is for the rewards to show.
      script: (_, random) => (random.integer(2) === 0 ? [] : [{ kind: 'act', action: call }]),
    });
    return [{ kind: 'demonstrations', examples, perUpdate: batchSize }];
  },
});

function textsOf(parts: readonly MessagePart[]): readonly string[] {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
}
