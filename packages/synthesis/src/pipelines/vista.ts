/**
 * VISTA's behavior cloning (arXiv:2511.19773, §5.1): a teacher's trajectories are kept if the answer is
 * the reference itself, and their thoughts are densified.
 */
import { z } from 'zod';
import { applyFilters } from '../filter.ts';
import { exactMatch } from '../filters/exact-match.ts';
import { failedExecutions } from '../filters/failed-executions.ts';
import { wrongAnswer } from '../filters/wrong-answer.ts';
import { definePipeline } from '../pipeline.ts';
import { playTasks } from '../play-tasks.ts';
import { densifiesField, perTaskField, samplesField, thoughtTokensField } from './settings.ts';
import { densified, firstOfTask, sampleOf, stepsOf } from './shared.ts';

export const vista = definePipeline({
  name: 'vista',
  description: 'VISTA’s behavior cloning: exactly matching answers, thoughts written out.',
  paper: 'VISTA-R1, arXiv:2511.19773, §5.1',
  needs: [],
  settings: z.strictObject({
    samples: samplesField(1),
    perTask: perTaskField,
    densifies: densifiesField,
    thoughtTokens: thoughtTokensField,
  }),
  async run({ samples, perTask, densifies, thoughtTokens }, context) {
    const candidates = await playTasks(
      context.tasks,
      { player: context.teacher, samples, name: 'candidates' },
      context,
    );
    const filters = [wrongAnswer.with(), exactMatch.with(), failedExecutions.with()];
    const { kept, counts } = await applyFilters(candidates, filters, context);
    const first = firstOfTask(kept, perTask);
    const steps = [...stepsOf(counts), first.count];
    if (!densifies) return { samples: first.kept.map((one) => sampleOf(one)), steps, facts: [] };
    return { steps, ...(await densified(first.kept, thoughtTokens, context)) };
  },
});
