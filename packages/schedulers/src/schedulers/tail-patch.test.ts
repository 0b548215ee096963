import { describe, expect, it } from 'vitest';
import { advantages } from '../scenarios.ts';
import type { ScheduleCommand } from '../scheduler.ts';
import { simulatedTrajectory } from '../simulated-task.ts';
import { difficultyPrefilter } from './difficulty-prefilter.ts';
import { tailPatch } from './tail-patch.ts';

/** Measures nine tasks of which task r is solved r times in eight; gives what follows. */
function measure(kind: typeof tailPatch | typeof difficultyPrefilter) {
  const options = { promptsPerStep: 2, groupSize: 8, advantages, probeTasks: 9 };
  const scheduler = kind.create(options);
  let [state, commands] = scheduler.next(scheduler.init(), { kind: 'stepStarted', step: 0 });
  expect(commands).toEqual([{ kind: 'rollOut', count: 9 }]);
  const send = (taskId: string, right: number): readonly ScheduleCommand[] => {
    const trajectories = Array.from({ length: 8 }, (_, index) =>
      simulatedTrajectory(taskId, index, { reward: index < right ? 1 : 0 }),
    );
    [state, commands] = scheduler.next(state, {
      kind: 'groupScored',
      group: { taskId, trajectories },
    });
    return commands;
  };
  const all = Array.from({ length: 9 }, (_, right) => send(String(right), right)).flat();
  return {
    all,
    send,
    begin: (step: number) => scheduler.next(state, { kind: 'stepStarted', step }),
  };
}

const reasons = (commands: readonly ScheduleCommand[]) =>
  commands.flatMap((command) => (command.kind === 'drop' ? [command.reason] : []));

describe('tail-patch', () => {
  it('trains on tasks solved one to three times in eight, in turn', () => {
    const { all, send, begin } = measure(tailPatch);
    const easy = new Array(5).fill('tooEasy');
    expect(reasons(all)).toEqual(['tooHard', 'probed', 'probed', 'probed', ...easy]);
    expect(all.at(-1)).toEqual({ kind: 'rollOutAgain', taskIds: ['1', '2'] });
    expect(send('1', 4)).toEqual([]);
    const [batch] = send('2', 8);
    expect(batch?.kind === 'trainOn' && batch.trajectories.length).toBe(16);
    const [, commands] = begin(1);
    expect(commands).toEqual([{ kind: 'rollOutAgain', taskIds: ['3', '1'] }]);
  });
});

describe('difficulty-prefilter', () => {
  it('leaves out tasks solved always or never; seven of eight is not above 0.9', () => {
    const { all } = measure(difficultyPrefilter);
    expect(reasons(all)).toEqual(['tooHard', ...new Array(7).fill('probed'), 'tooEasy']);
  });
});
