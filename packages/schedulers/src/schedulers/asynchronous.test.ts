import { StateError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { advantages } from '../scenarios.ts';
import type { ScheduleCommand, ScheduleEvent, Scheduler } from '../scheduler.ts';
import { simulatedTrajectory } from '../simulated-task.ts';
import { leavesTime } from '../staleness.ts';
import { asynchronous } from './asynchronous.ts';

const options = { promptsPerStep: 1, groupSize: 2, advantages };

/** Sends events one after another; gives the commands that answered each. */
function drive(scheduler: Scheduler, events: readonly ScheduleEvent[]) {
  let state = scheduler.init();
  return events.map((event): readonly ScheduleCommand[] => {
    const [after, commands] = scheduler.next(state, event);
    state = after;
    return commands;
  });
}

const begin = (step: number): ScheduleEvent => ({ kind: 'stepStarted', step });
const started = (taskId: string): ScheduleEvent => ({ kind: 'taskStarted', taskId });
const published = (version: number): ScheduleEvent => ({ kind: 'weightsPublished', version });
const scored = (taskId: string, policyVersion: number): ScheduleEvent => ({
  kind: 'groupScored',
  group: {
    taskId,
    trajectories: [0, 1].map((index) =>
      simulatedTrajectory(taskId, index, { reward: index, policyVersion }),
    ),
  },
});
const kinds = (answers: readonly (readonly ScheduleCommand[])[]) =>
  answers.map((commands) => commands.map(({ kind }) => kind));

describe('asynchronous training', () => {
  const slow = [
    begin(0),
    started('slow'),
    started('a'),
    scored('a', 0),
    published(1),
    begin(1),
    started('b'),
    scored('b', 1),
    published(2),
  ];

  it('cancels what would be too stale rather than wait for it', () => {
    const answers = drive(asynchronous.create(options), slow);
    expect(kinds(answers)).toEqual([
      ['rollOut'],
      [],
      [],
      ['trainOn'],
      ['rollOut'],
      [],
      [],
      ['trainOn'],
      ['cancel', 'rollOut'],
    ]);
    expect(answers.at(-1)?.[0]).toEqual({ kind: 'cancel', taskId: 'slow', reason: 'tooStale' });
  });

  it('waits for it where told, and then trains on it first', () => {
    const scheduler = asynchronous.create({ ...options, tooStale: 'wait' });
    const answers = drive(scheduler, [...slow.slice(0, 8), scored('slow', 0)]);
    expect(kinds(answers).at(7)).toEqual([]);
    const [batch] = answers.at(8) ?? [];
    expect(batch?.kind === 'trainOn' && batch.trajectories[0]?.trajectory.taskId).toBe('slow');
  });

  it('begins interrupted rollouts anew as often as told, and no more', () => {
    const restarting = { ...options, maxStaleness: 3, onUpdate: 'restart' as const };
    const answers = drive(asynchronous.create(restarting), [
      begin(0),
      started('slow'),
      published(1),
      published(2),
    ]);
    expect(answers[2]?.[0]).toEqual({ kind: 'restart', taskId: 'slow' });
    expect(kinds(answers)[3]).toEqual([]);
  });

  it('counts a group from its oldest segment', () => {
    const answers = drive(asynchronous.create(options), [
      begin(0),
      started('a'),
      published(2),
      scored('a', 0),
    ]);
    expect(answers[3]?.[0]).toEqual({ kind: 'drop', taskId: 'a', reason: 'tooStale' });
  });

  it('refuses what nobody asked for, and versions that go back', () => {
    const scheduler = asynchronous.create(options);
    expect(() => drive(scheduler, [scored('a', 0)])).toThrow(StateError);
    expect(() => drive(scheduler, [begin(0), begin(1)])).toThrow(/has no batch/);
    expect(() => drive(scheduler, [published(2), published(1)])).toThrow(/cannot follow/);
  });
});

describe('leavesTime', () => {
  it('holds exactly if earliest deadline first trains on all in time', () => {
    const rules = { maxStaleness: 1, promptsPerStep: 2 };
    expect(leavesTime([5, 5], 5, rules)).toBe(true);
    expect(leavesTime([5, 5, 5], 5, rules)).toBe(false);
    expect(leavesTime([4], 5, rules)).toBe(false);
    expect(leavesTime([], 5, { maxStaleness: 0, promptsPerStep: 1 })).toBe(true);
  });
});
