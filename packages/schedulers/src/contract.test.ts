import { describe, expect, it } from 'vitest';
import { schedulerContract } from './contract.ts';
import { schedulers } from './registry.ts';
import type { SchedulerKind } from './scheduler.ts';
import { asynchronous } from './schedulers/asynchronous.ts';
import { synchronous } from './schedulers/synchronous.ts';

/** `npm run sweep` has as many as the contract has by default. */
const options = process.env.SACCADE_SWEEP === undefined ? { schedules: 2000 } : {};

describe.each(schedulers.entries())('%s', (_, kind) => {
  it.each(schedulerContract)('$name', ({ check }) => check(kind, options), 60_000);
});

describe('the contract', () => {
  /** The synchronous scheduler with its batches changed. */
  const changed = (change: (batch: readonly unknown[]) => readonly unknown[]): SchedulerKind =>
    ({
      ...synchronous,
      create: (options) => {
        const inner = synchronous.create(options);
        return {
          ...inner,
          next: (state, event) => {
            const [after, commands] = inner.next(state, event);
            const edited = commands.map((command) =>
              command.kind === 'trainOn' && command.trajectories.length > 0
                ? { ...command, trajectories: change(command.trajectories) }
                : command,
            );
            return [after, edited] as ReturnType<typeof inner.next>;
          },
        };
      },
    }) satisfies SchedulerKind;

  it('catches a trajectory that is lost, and one that is trained on twice', () => {
    const [books] = schedulerContract;
    expect(() => books?.check(changed((batch) => batch.slice(1)))).toThrow(/never decided about/);
    expect(() => books?.check(changed((batch) => [...batch, batch[0]]))).toThrow(/was not open/);
  });

  it('catches a bound on staleness that is not kept', () => {
    const [books] = schedulerContract;
    const strict: SchedulerKind = {
      ...asynchronous,
      create: (options) => ({ ...asynchronous.create(options), maxStaleness: 0 }),
    };
    expect(() => books?.check(strict)).toThrow(/trained on trajectories \d steps old/);
  });
});
