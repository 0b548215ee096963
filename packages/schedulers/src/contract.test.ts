import { describe, expect, it } from 'vitest';
import { schedulerContract } from './contract.ts';
import { schedulers } from './registry.ts';
import type { SchedulerKind } from './scheduler.ts';
import { synchronous } from './schedulers/synchronous.ts';

describe.each(schedulers.entries())('%s', (_, kind) => {
  it.each(schedulerContract)('$name', ({ check }) => check(kind));
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
              command.kind === 'trainOn'
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
    expect(() => books?.check(changed((batch) => batch.slice(1)))).toThrow(/decided 0 times/);
    expect(() => books?.check(changed((batch) => [...batch, batch[0]]))).toThrow(/decided 2 times/);
  });
});
