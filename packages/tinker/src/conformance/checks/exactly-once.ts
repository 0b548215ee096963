/** Exactly once: numbers in order, the same bytes the same future, and nothing applied twice. */
import { randomUUID } from 'node:crypto';
import { z } from '@saccade/core/settings';
import { plainAdam, type TinkerModel } from '../../client/tinker-model.ts';
import { INCARNATION } from '../../client/transport.ts';
import { ROW_LENGTH, weightsOf } from '../../measure/linearity.ts';
import { datumOf, probeRow } from '../../measure/probe.ts';
import { encodeBody } from '../../wire/bodies.ts';
import { floats, integers } from '../../wire/tensors.ts';
import { type TinkerCode, TinkerError } from '../../wire/tinker-error.ts';
import {
  type ConformanceCheck,
  type ConformanceContext,
  ConformanceError,
  expectAtMost,
  expectThat,
} from '../conformance-check.ts';

const submitted = z.looseObject({ request_id: z.string() });
const stepped = z.looseObject({ grad_norm: z.number().nullish(), version: z.number() });

/** Sends calls of a model with numbers of its own. */
class RawCalls {
  readonly #context: ConformanceContext;
  readonly #model: TinkerModel;

  constructor(context: ConformanceContext, model: TinkerModel) {
    this.#context = context;
    this.#model = model;
  }

  async submit(path: string, seq: number, body: object): Promise<string> {
    const whole = { model_id: this.#model.id, seq_id: seq, ...body };
    const { transport } = this.#context.client;
    const answer = await transport.post({ path, body: encodeBody(whole, 'json') });
    return submitted.parse(answer).request_id;
  }

  async result(id: string): Promise<unknown> {
    const until = Date.now() + 600_000;
    return await this.#context.client.futures.result(id, until);
  }
}

/** A call that accumulates a gradient, as JSON. */
function backwardOf({ vocabulary }: ConformanceContext, seed: number): object {
  const row = probeRow(seed, ROW_LENGTH, vocabulary);
  const { chunks, targets } = datumOf(row, {});
  return {
    forward_backward_input: {
      data: [
        {
          model_input: { chunks },
          loss_fn_inputs: {
            target_tokens: integers(targets),
            weights: floats(weightsOf(row)),
          },
        },
      ],
      loss_fn: 'cross_entropy',
    },
  };
}

async function expectCode(what: string, codes: readonly TinkerCode[], run: () => Promise<unknown>) {
  try {
    await run();
  } catch (error) {
    if (error instanceof TinkerError && codes.includes(error.fault)) return;
    throw error;
  }
  throw new ConformanceError(`The server took ${what}; ${codes.join(' or ')} was expected.`);
}

export const sequenceNumbers: ConformanceCheck = {
  number: 14,
  name: 'numbers are in order: the same bytes give the same future, others are refused',
  needs: ['extension'],
  async run(context) {
    return await context.withModel(async (model) => {
      const calls = new RawCalls(context, model);
      const path = '/forward_backward';
      const first = await calls.submit(path, 1, backwardOf(context, 1));
      expectThat(
        'The same future for the same bytes',
        (await calls.submit(path, 1, backwardOf(context, 1))) === first,
      );
      await expectCode('another request under a known number', ['sequence-conflict'], () =>
        calls.submit(path, 1, backwardOf(context, 2)),
      );
      await expectCode('a number that leaves a gap', ['sequence-gap'], () =>
        calls.submit(path, 3, backwardOf(context, 2)),
      );
      await calls.result(first);
      const second = await calls.submit(path, 2, backwardOf(context, 2));
      expectThat('Another future for another number', second !== first);
      await calls.result(second);
      await expectCode('a future that nobody made', ['unknown-future'], () =>
        calls.result(randomUUID()),
      );
      return 'repeated, conflicting, early and unknown requests as they should be';
    });
  },
};

export const nothingTwice: ConformanceCheck = {
  number: 14,
  name: 'requests that come several times are applied once, steps by their versions',
  needs: ['extension'],
  async run(context) {
    const norms = [];
    for (const times of [1, 3]) {
      const { norm, version } = await context.withModel(async (model) => {
        const calls = new RawCalls(context, model);
        const many = async (path: string, seq: number, body: object): Promise<unknown> => {
          const ids = [];
          for (let i = 0; i < times; i++) ids.push(await calls.submit(path, seq, body));
          return await calls.result(ids[times - 1] as string);
        };
        await many('/forward_backward', 1, backwardOf(context, 1));
        const adam = { ...plainAdam, learning_rate: 1e-3 };
        const { version: before = 0 } = (await model.info()) as { version?: number };
        const body = { adam_params: adam, expected_version: before };
        const answer = stepped.parse(await many('/optim_step', 2, body));
        expectThat('One version further', answer.version === before + 1);
        await expectCode('a step that expects an old version', ['stale-version'], async () =>
          calls.result(await calls.submit('/optim_step', 3, body)),
        );
        return { norm: answer.grad_norm ?? Number.NaN, version: answer.version };
      });
      norms.push(norm);
      expectThat('A version', version > 0);
    }
    const [once = Number.NaN, often = Number.NaN] = norms;
    return expectAtMost('norms differ by', Math.abs(once - often), 0);
  },
};

export const incarnations: ConformanceCheck = {
  number: 14,
  name: 'a request for another start of the server is refused',
  needs: ['extension'],
  async run({ client }) {
    const { transport } = client;
    expectThat(`The header ${INCARNATION}`, transport.incarnation !== undefined);
    await expectCode('another incarnation', ['foreign-incarnation'], () =>
      transport.postAs('/create_session', {}, randomUUID()),
    );
    return `incarnation ${transport.incarnation}`;
  },
};
