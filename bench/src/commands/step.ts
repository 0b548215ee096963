/** `npm run bench -- step`: where a cold-start update, a rollout and a training step go. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Profile, stageOf } from '@saccade/core';
import {
  describeProfile,
  drawProfilePage,
  type ProfileRow,
  profileColumns,
  profileRows,
} from '@saccade/report';
import { parseSetting, recipes, type Setting } from '@saccade/train';
import { type Command, InvalidArgumentError } from 'commander';
import { provenance } from '../machine.ts';
import { showProgress } from '../progress.ts';
import { runMeasurement } from '../run-measurement.ts';
import { measureStepProfile, type StepProfile, type StepSeconds } from '../step-profile.ts';
import { drawTable } from '../table.ts';
import { formatSeconds } from '../units.ts';
import { addResultOptions, parseCount, type ResultFlags } from './shared.ts';

interface StepFlags extends ResultFlags {
  readonly recipe: string;
  readonly set: readonly Setting[];
  readonly updates: number;
  readonly steps: number;
  readonly examples: number;
  readonly from?: string;
  readonly threads?: number;
  readonly compare: boolean;
  readonly html?: string;
}

/** Stages that have a table of their own, and what they are for people. */
const PARTS: readonly (readonly [stage: string, title: string])[] = [
  ['examples', 'the examples of the cold start'],
  ['update', 'a cold-start update'],
  ['rollout', 'a rollout: a batch of groups, scored'],
  ['learning', 'learning from it'],
  ['evaluation', 'an evaluation'],
];

/** Rows below this share of a stage are left out. */
const LEAST_SHARE = 0.01;

function parseShare(text: string): number {
  const share = Number(text);
  if (share > 0 && share <= 1) return share;
  throw new InvalidArgumentError('Pass a number above 0, at most 1.');
}

export function addStep(program: Command, args: readonly string[]): void {
  const command = program
    .command('step')
    .description('Where a cold-start update, a rollout and a training step go, as tables.')
    .option('--recipe <name>', recipes.names.join(', '), 'pyvision-image-nano')
    .option(
      '--set <field=value>',
      'change a field of the recipe; may be repeated',
      (text: string, before: readonly Setting[]) => [...before, parseSetting(text)],
      [],
    )
    .option('--updates <count>', 'updates of the cold start', parseCount, 8)
    .option('--steps <count>', 'steps of reinforcement learning', parseCount, 1)
    .option('--examples <share>', 'of the cold start’s examples, made for it', parseShare, 1 / 16)
    .option('--from <directory>', 'a run or a policy for the steps, instead of the few updates')
    .option('--threads <count>', 'kernel threads', parseCount)
    .option('--no-compare', 'do not run it without a profile as well')
    .option('--html <file>', 'a page with all of it and flame graphs');
  addResultOptions(command)
    .addHelpText(
      'after',
      `
Every moment of the clock counts once: for what JavaScript was in, kernels by op; else in equal parts
for the sandboxes and threads that worked; else as waiting. So a table adds up to 100 %, and "in
flight" says how long things elsewhere took, however many at a time.

A policy of few updates seldom calls tools. For rollouts as they are later, give one that has learned:
  npm run bench -- step --from runs/pyvision-image-nano-seed1 --html step.html

The same of a whole run: saccade train --profile`,
    )
    .action((flags: StepFlags) => runStep(flags, args));
}

async function runStep(flags: StepFlags, args: readonly string[]): Promise<void> {
  const record = provenance(args);
  await runMeasurement<StepProfile>(flags, {
    kind: 'step',
    measure: (signal, keep) =>
      measureStepProfile({
        ...flags,
        settings: flags.set,
        exampleShare: flags.examples,
        isCompared: flags.compare,
        onProgress: showProgress,
        signal,
        keep,
      }),
    show: (result) => show(result, flags),
    record: (result) => ({ ...record, ...result }),
  });
}

function show({ plain, profiled, stored, toolCalls }: StepProfile, { html }: StepFlags): void {
  if (stored !== undefined) {
    for (const line of describeProfile(stored)) console.log(line);
    for (const [stage, title] of PARTS) {
      const part = stageOf(stored.profile, stage);
      if (part !== undefined) showPart(title, part);
    }
  }
  for (const line of describeSeconds(plain, profiled)) console.log(line);
  if (toolCalls !== undefined) console.log(`tool calls of a trajectory: ${toolCalls.toFixed(2)}`);
  if (html === undefined || stored === undefined) return;
  writeFileSync(resolve(html), drawProfilePage(stored));
  console.error(`Page: ${resolve(html)}`);
}

function showPart(title: string, profile: Profile): void {
  const { count } = profile.root;
  const each = count > 1 ? `, ${count} times, ${formatSeconds(profile.seconds / count)} each` : '';
  console.log(`\n${title}: ${formatSeconds(profile.seconds)}${each}`);
  const columns = [
    { title: 'part' },
    ...profileColumns.map((name) => ({ title: name, align: 'right' as const })),
  ];
  const isShown = ({ share }: ProfileRow): boolean => share >= LEAST_SHARE;
  const rows = profileRows({ profile }).filter(isShown);
  console.log(
    drawTable(
      columns,
      rows.map(({ name, isGroup, cells }) => [isGroup ? name : `  ${name}`, ...cells]),
    ),
  );
}

/** The same without a profile: how much of the times is the price of taking them. */
function describeSeconds(plain?: StepSeconds, profiled?: StepSeconds): readonly string[] {
  const of = ({ update, rollout, learning }: StepSeconds): string =>
    `update ${formatSeconds(update)}, rollout ${formatSeconds(rollout)}, ` +
    `learning ${formatSeconds(learning)}`;
  return [
    '',
    ...(profiled ? [`profiled: ${of(profiled)}`] : []),
    ...(plain ? [`as a run has it, with launches queued: ${of(plain)}`] : []),
    ...(plain && profiled ? ['Both gave the same metrics.'] : []),
  ];
}
