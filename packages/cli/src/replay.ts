/** `saccade replay`: rollouts of a run again, compared token by token and log-prob by log-prob. */
import { ConfigError } from '@saccade/core';
import { type ReplayedPlay, type ReplayOutcome, replayRun } from '@saccade/replay';
import { printJson } from './json.ts';
import { say } from './say.ts';
import { openPython } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface ReplayFlags {
  readonly id?: string;
  readonly of?: string;
  readonly step?: number;
  readonly index?: number;
  readonly all?: boolean;
  readonly live?: boolean;
  readonly rebuild?: boolean;
  readonly json?: boolean;
}

export async function replayKept(directory: string, flags: ReplayFlags): Promise<void> {
  if (flags.step !== undefined && flags.of !== undefined) {
    throw new ConfigError('--step', '--step and --of both name a file. Leave one of them out.');
  }
  const step = flags.step === undefined ? undefined : String(flags.step).padStart(6, '0');
  const file = step === undefined ? flags.of : `step-${step}`;
  const onEvent = terminalProgress({ stream: process.stderr });
  let [count, exact, differ, missing] = [0, 0, 0, 0];
  const replays: object[] = [];
  const isSurvey = flags.id === undefined && file === undefined;
  for await (const replayed of replayRun(directory, {
    onEvent,
    ...(flags.id !== undefined && { id: flags.id }),
    ...(file !== undefined && { file }),
    ...(flags.index !== undefined && { index: flags.index }),
    all: flags.all ?? false,
    live: flags.live ?? false,
    rebuild: flags.rebuild ?? false,
    python: () => openPython(onEvent),
    // A trajectory that is named must be replayable; of a run, those that can be replayed are.
    ...(isSurvey && {
      onMissing({ file: kept, index, trajectory: { id, policyVersion } }) {
        missing++;
        if (!flags.json)
          say(`left out ${kept}[${index}] ${id}: weights ${policyVersion} are not kept`);
      },
    }),
  })) {
    count++;
    if (flags.json) replays.push(jsonOf(replayed));
    else for (const line of describe(replayed)) say(line);
    if (replayed.recorded.isExact) exact++;
    if (replayed.live?.isExact === false) differ++;
  }
  const alive = flags.live ? `; run live, ${differ} came out differently` : '';
  const rest = missing === 0 ? '' : ` ${missing} left out: --rebuild trains their weights again.`;
  if (flags.json) printJson({ count, exact, ...(flags.live && { differ }), missing, replays });
  else say(`${exact} of ${count} replays are exact${alive}.${rest}`);
  if (exact < count || count === 0) process.exitCode = 1;
}

function jsonOf({ play, recorded, live, weights }: ReplayedPlay): object {
  const { trajectory, file, index } = play;
  const { policyVersion } = weights;
  return { file, index, id: trajectory.id, policyVersion, recorded, ...(live && { live }) };
}

function describe({ play, recorded, live, weights }: ReplayedPlay): readonly string[] {
  const { trajectory, file, index } = play;
  const name = `${file}[${index}] ${trajectory.id}, weights ${weights.policyVersion}`;
  return [
    ...outcome(recorded, `${name}, ${trajectory.turns.length} turns`),
    ...(live === undefined ? [] : outcome(live, '  run live')),
  ];
}

function outcome(one: ReplayOutcome, name: string): readonly string[] {
  const { isExact, sampledTokens, differences, largestLogprobDifference: largest } = one;
  if (isExact) return [`exact    ${name}, ${sampledTokens} tokens with their log-probs`];
  const apart = largest > 0 ? `, log-probs up to ${largest.toExponential(2)} apart` : '';
  return [
    `DIFFERS  ${name}, equal for ${sampledTokens} tokens${apart}`,
    ...differences.map((sentence) => `         ${sentence}`),
  ];
}
