/** Goes over the log of a simulated run: every fate once, every bound kept, every sum right. */
import { countDrops } from './drop-counts.ts';
import { advantages, type Scenario } from './scenarios.ts';
import type { AdvantagedTrajectory, ScheduleCommand, Scheduler } from './scheduler.ts';
import type { Simulation } from './simulate.ts';

/** @throws Error that says what broke */
export function auditRun(
  scheduler: Scheduler,
  run: Simulation,
  { options, simulation }: Scenario,
): void {
  auditFates(run);
  auditAdvantages(run);
  const { inFlight = {} } = options;
  const { maxTrajectories = Number.POSITIVE_INFINITY, maxTokens, tokensPerTrajectory } = inFlight;
  const byTokens =
    maxTokens === undefined ? maxTrajectories : maxTokens / (tokensPerTrajectory ?? 1);
  const most = Math.min(maxTrajectories, byTokens);
  expect(run.mostInFlight <= most, `had ${run.mostInFlight} trajectories in flight, not ${most}.`);
  const stalest = run.staleness.length - 1;
  expect(stalest <= scheduler.maxStaleness, `trained on trajectories ${stalest} steps old.`);
  const batches = commandsOf(run).filter(({ kind }) => kind === 'trainOn').length;
  const { steps, endSeconds } = simulation;
  expect(
    batches === steps || endSeconds !== undefined,
    `gave ${batches} batches in ${steps} steps.`,
  );
}

/** Everything a run trained on. */
export function trainedOn(run: Simulation): readonly AdvantagedTrajectory[] {
  return commandsOf(run).flatMap((command) =>
    command.kind === 'trainOn' ? command.trajectories : [],
  );
}

function commandsOf({ log }: Simulation): readonly ScheduleCommand[] {
  return log.flatMap(({ commands }) => commands);
}

/** A task that is in flight, or has ended and is not all decided. */
interface Fate {
  isEnded: boolean;
  /** Ids of its trajectories that are not decided, by sample index. */
  readonly undecided: Map<number, string>;
}

/** Every task that started ends once, and every trajectory of it is trained on or dropped once. */
function auditFates(run: Simulation): void {
  const fates = new Map<string, Fate>();
  const drops = { groups: 0, trajectories: 0 };
  const decide = (taskId: string, sampleIndex: number, id?: string): void => {
    const fate = fates.get(taskId);
    const known = fate?.undecided.get(sampleIndex);
    const isRight = known !== undefined && (id === undefined || id === known);
    expect(isRight, `decided about ${id ?? `${taskId}/${sampleIndex}`}, which was not open.`);
    fate?.undecided.delete(sampleIndex);
    if (fate?.undecided.size === 0) fates.delete(taskId);
  };
  for (const { event, commands } of run.log) {
    if (event.kind === 'taskStarted') {
      expect(!fates.has(event.taskId), `asked for ${event.taskId} before it was decided.`);
      fates.set(event.taskId, { isEnded: false, undecided: new Map() });
    } else if (event.kind === 'groupScored') {
      const fate = end(fates, event.group.taskId);
      for (const { sampleIndex, id } of event.group.trajectories) {
        fate.undecided.set(sampleIndex, id);
      }
    } else if (event.kind === 'groupFailed' || event.kind === 'groupCancelled') {
      end(fates, event.taskId);
    }
    for (const command of commands) {
      if (command.kind === 'trainOn') {
        for (const { trajectory: one } of command.trajectories) {
          decide(one.taskId, one.sampleIndex, one.id);
        }
      } else if (command.kind === 'drop' && command.sampleIndex === undefined) {
        expect(
          fates.get(command.taskId)?.isEnded,
          `dropped ${command.taskId}, which was not open.`,
        );
        fates.delete(command.taskId);
        drops.groups++;
      } else if (command.kind === 'drop') {
        decide(command.taskId, command.sampleIndex ?? -1);
        drops.trajectories++;
      }
    }
  }
  const [left] = fates.keys();
  expect(left === undefined, `never decided about ${left}.`);
  const counts = Object.values(countDrops(commandsOf(run)));
  const sums = {
    groups: counts.reduce((sum, { groups }) => sum + groups, 0),
    trajectories: counts.reduce((sum, { trajectories }) => sum + trajectories, 0),
  };
  expect(
    sums.groups === drops.groups && sums.trajectories === drops.trajectories,
    'its drops do not add up.',
  );
}

function end(fates: ReadonlyMap<string, Fate>, taskId: string): Fate {
  const fate = fates.get(taskId);
  if (fate === undefined || fate.isEnded) throw new Error(`${taskId} ended twice.`);
  fate.isEnded = true;
  return fate;
}

/** The advantage trained with is that of the whole group, as it was scored. */
function auditAdvantages(run: Simulation): void {
  const expected = new Map<string, number>();
  for (const { event } of run.log) {
    if (event.kind !== 'groupScored') continue;
    const values = advantages(event.group);
    event.group.trajectories.forEach((one, index) => {
      expected.set(one.id, values[index] ?? Number.NaN);
    });
  }
  for (const { trajectory, advantage } of trainedOn(run)) {
    expect(
      advantage === expected.get(trajectory.id),
      `gave ${trajectory.id} the advantage ${advantage}.`,
    );
  }
}

function expect(holds: boolean | undefined, message: string): void {
  if (!holds) throw new Error(`It ${message}`);
}
