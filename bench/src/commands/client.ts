/** `npm run bench -- client`: what the client of a learner costs a step, and whether it holds on to memory. */
import { ConfigError } from '@saccade/core';
import type { Command } from 'commander';
import { type ClientMemory, measureClientMemory } from '../client/client-memory.ts';
import { type ClientStep, MeasuredClient, PARTS, startServer } from '../client/client-steps.ts';
import type { PayloadSizes } from '../client/payload.ts';
import type { Form } from '../client/timed-fetch.ts';
import { provenance } from '../machine.ts';
import { READINGS } from '../memory-steps.ts';
import { showProgress } from '../progress.ts';
import { runMeasurement } from '../run-measurement.ts';
import { median, type Sample, summarize } from '../statistics.ts';
import { type Column, drawTable } from '../table.ts';
import { formatBytes, formatRange, formatSeconds } from '../units.ts';
import { addResultOptions, parseCount, parseSeconds, type ResultFlags } from './shared.ts';

interface ClientFlags extends ResultFlags, PayloadSizes {
  readonly rounds: number;
  readonly forms: string;
  readonly stepSeconds: number;
  readonly recoverySteps?: number;
  readonly memory?: boolean;
  readonly steps: number;
}

const FORMS: readonly Form[] = ['binary', 'json', 'plain'];

export function addClient(program: Command, args: readonly string[]): void {
  const command = program
    .command('client')
    .description('A step behind a learner: packing, encoding, sending, waiting, decoding; memory.')
    .option('--trajectories <count>', 'of a step', parseCount, 64)
    .option('--group <count>', 'trajectories of a prompt', parseCount, 8)
    .option('--tokens <count>', 'of a trajectory, images included', parseCount, 8192)
    .option('--prompt-tokens <count>', 'of them, in the prompt', parseCount, 2048)
    .option('--images <count>', 'of a trajectory, the first in its prompt', parseCount, 4)
    .option('--image-tokens <count>', 'of an image', parseCount, 1000)
    .option('--image-bytes <count>', 'of an image file', parseCount, 800_000)
    .option('--forms <names>', 'binary, json, plain; comma between', 'binary,json')
    .option('--rounds <count>', 'steps of each form, in turns', parseCount, 5)
    .option('--step-seconds <s>', 'of a step without the client, for the shares', parseSeconds, 60)
    .option('--recovery-steps <count>', 'steps the client holds: 2, with --memory 16', parseCount)
    .option('--memory', 'take many small steps and read memory after each')
    .option('--steps <count>', 'of them', parseCount, 1000);
  addResultOptions(command)
    .addHelpText(
      'after',
      `
The client is the real one (model=remote), the server too, in a process of its own on the loopback:
it reads and checks every request, and answers log-probs that nobody computed. Every step has new
random tokens and new images, as files of random bytes.

binary is the form of our servers: forests, tensors as safetensors, each image sent once. json is the
same in JSON. plain is what any Tinker server takes: a row for each trajectory, its prompt and its
images in base64 in it, sent for the scores and again for the gradients.

packing    trajectories to packed batches         sending   until the server has read and accepted
encoding   to bytes, hashes of images included    waiting   for results, which take no time here
decoding   results to arrays                     processor the client's own time on a processor

--memory takes small steps (4 trajectories of 256 tokens, two images of 20 kB in each, unless sizes are
given) and looks for a slope as "memory" does. It ends with status 1 if something grows.

  npm run bench -- client --forms binary,json,plain --step-seconds 120
  npm run bench -- client --memory`,
    )
    .action((flags: ClientFlags) =>
      flags.memory ? runMemory(flags, args, command) : runSteps(flags, args),
    );
}

interface StepsResult {
  readonly idleBytes: number;
  readonly results: readonly FormResult[];
}

async function runSteps(flags: ClientFlags, args: readonly string[]): Promise<void> {
  const record = provenance(args);
  const { stepSeconds } = flags;
  const forms = formsOf(flags);
  const server = await startServer();
  await runMeasurement<StepsResult>(flags, {
    kind: 'client',
    measure: (signal) => measureSteps(flags, forms, server.url, signal),
    show({ idleBytes, results }) {
      console.log(describeSizes(flags));
      const rows = results.map((one) => cells(one, stepSeconds));
      console.log(drawTable(COLUMNS, rows));
      console.log(`resident at rest: ${formatBytes(idleBytes)}`);
    },
    record: (result) => ({ ...record, sizes: sizesOf(flags), stepSeconds, ...result }),
    close: () => server.stop(),
  });
}

/** Steps of all forms in turns. Once aborted, no other step begins. */
async function measureSteps(
  flags: ClientFlags,
  forms: readonly Form[],
  url: string,
  signal: AbortSignal,
): Promise<StepsResult | undefined> {
  // All forms are there at once, and each holds what a new learner would be given again.
  const { rounds, recoverySteps = 2 } = flags;
  const taken = new Map(forms.map((form) => [form, { steps: [] as ClientStep[], most: 0 }]));
  const idleBytes = process.memoryUsage().rss;
  const clients: MeasuredClient[] = [];
  try {
    for (const form of forms) clients.push(await MeasuredClient.open(url, form, recoverySteps));
    // The first round warms up.
    for (let round = 0; round <= rounds && !signal.aborted; round++) {
      for (const client of clients) {
        if (signal.aborted) break;
        showProgress(`${client.form}, round ${round} of ${rounds}`);
        client.takeMostBytes();
        const step = await client.step(flags, 1000 * round + forms.indexOf(client.form));
        const own = taken.get(client.form);
        if (own === undefined || round === 0) continue;
        own.steps.push(step);
        own.most = Math.max(own.most, client.takeMostBytes());
      }
    }
  } finally {
    for (const client of clients) await client.dispose();
  }
  const measured = [...taken].filter(([, { steps }]) => steps.length > 0);
  if (measured.length === 0) return undefined;
  const results = measured.map(([form, { steps, most }]) => ({
    form,
    peakResidentBytes: most,
    ...summary(steps),
  }));
  return { idleBytes, results };
}

type Summary = Readonly<Record<(typeof PARTS)[number] | 'total' | 'processor', Sample>> & {
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly requests: number;
};

type FormResult = Summary & { readonly form: Form; readonly peakResidentBytes: number };

function summary(steps: readonly ClientStep[]): Summary {
  const total = steps.map((step) => PARTS.reduce((sum, part) => sum + step[part], 0));
  const parts = PARTS.map((part) => [part, summarize(steps.map((step) => step[part]))] as const);
  const of = (field: 'sentBytes' | 'receivedBytes' | 'requests'): number =>
    median(steps.map((step) => step[field]));
  return {
    ...(Object.fromEntries(parts) as Record<(typeof PARTS)[number], Sample>),
    total: summarize(total),
    processor: summarize(steps.map((step) => step.processor)),
    sentBytes: of('sentBytes'),
    receivedBytes: of('receivedBytes'),
    requests: of('requests'),
  };
}

const right = (title: string): Column => ({ title, align: 'right' });
const COLUMNS: readonly Column[] = [
  { title: 'form' },
  ...PARTS.map(right),
  right('all'),
  right('p20–p80'),
  right('processor'),
  right('of a step'),
  right('sent'),
  right('received'),
  right('resident, most'),
];

function cells(one: FormResult, stepSeconds: number): readonly string[] {
  const { total } = one;
  return [
    one.form,
    ...PARTS.map((part) => formatSeconds(one[part].median)),
    formatSeconds(total.median),
    formatRange(total.p20, total.p80),
    formatSeconds(one.processor.median),
    `${((100 * total.median) / (stepSeconds + total.median)).toFixed(2)} %`,
    formatBytes(one.sentBytes),
    formatBytes(one.receivedBytes),
    formatBytes(one.peakResidentBytes),
  ];
}

function sizesOf(flags: PayloadSizes): PayloadSizes {
  const { trajectories, group, tokens, promptTokens, images, imageTokens, imageBytes } = flags;
  return { trajectories, group, tokens, promptTokens, images, imageTokens, imageBytes };
}

function describeSizes(flags: ClientFlags): string {
  const { trajectories, group, tokens, images, imageTokens, imageBytes, stepSeconds } = flags;
  return (
    `${trajectories} trajectories of ${tokens} tokens in groups of ${group}, ${images} images of ` +
    `${imageTokens} tokens and ${formatBytes(imageBytes)} each; share of a step of ${stepSeconds} s`
  );
}

/** @throws ConfigError for a form that there is not */
function formsOf({ forms }: ClientFlags): readonly Form[] {
  const names = forms.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !FORMS.some((form) => form === name));
  if (wrong === undefined) return names as Form[];
  throw new ConfigError('forms', `--forms has "${wrong}". Pass some of ${FORMS.join(', ')}.`);
}

const SMALL: PayloadSizes = {
  trajectories: 4,
  group: 2,
  tokens: 256,
  promptTokens: 64,
  images: 2,
  imageTokens: 32,
  imageBytes: 20_000,
};

async function runMemory(
  flags: ClientFlags,
  args: readonly string[],
  command: Command,
): Promise<void> {
  const record = provenance(args);
  const { steps, recoverySteps = 16 } = flags;
  const [form = 'binary'] = formsOf(flags);
  const given = Object.fromEntries(
    Object.entries(sizesOf(flags)).filter(([name]) => command.getOptionValueSource(name) === 'cli'),
  );
  const sizes: PayloadSizes = { ...SMALL, ...given };
  const server = await startServer();
  await runMeasurement<ClientMemory>(flags, {
    kind: 'client-memory',
    measure: (signal) =>
      measureClientMemory({
        ...{ url: server.url, form, sizes, steps, recoverySteps, signal },
        onStep: showProgress,
      }),
    show(memory) {
      console.log(`${memory.steps} steps, ${form}, ${memory.seconds.toFixed(0)} s`);
      for (const [reading, found] of Object.entries(memory.drift)) {
        const { title } = READINGS[reading as keyof typeof READINGS];
        const { verdict, perStep, p20, p80, least, most } = found;
        console.log(
          `${title}: ${verdict}; ${perStep.toFixed(1)} bytes per step (${p20.toFixed(1)} to ` +
            `${p80.toFixed(1)}), between ${formatBytes(least)} and ${formatBytes(most)}`,
        );
      }
      const verdicts = Object.values(memory.drift).map(({ verdict }) => verdict);
      if (verdicts.includes('grows')) process.exitCode = 1;
    },
    record: (memory) => ({ ...record, sizes, ...memory }),
    close: () => server.stop(),
  });
}
