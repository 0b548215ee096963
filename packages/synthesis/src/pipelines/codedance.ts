/**
 * CodeDance's weak-to-strong curation (arXiv:2512.17312, §3.2 and §7): a weak model's pass rate sorts
 * questions; easy ones are answered at once without code, others by one operation or step by step, and a
 * stronger model validates what the teacher played. The composition takes given shares of each stratum.
 */
import { flag, optionalCount, quantity, type SettingsOf } from '@saccade/core/settings';
import type { Protocol, Task } from '@saccade/gym';
import { withPrompting } from '@saccade/rollout/chat-player';
import { z } from 'zod';
import type { SynthesisContext } from '../context.ts';
import { applyFilters } from '../filter.ts';
import { failedExecutions } from '../filters/failed-executions.ts';
import { fewToolTurns } from '../filters/few-tool-turns.ts';
import { judge } from '../filters/judge.ts';
import { wrongAnswer } from '../filters/wrong-answer.ts';
import { measurePassRates, type PassRate } from '../pass-rate.ts';
import { definePipeline, type StepCount } from '../pipeline.ts';
import { type Candidate, playTasks } from '../play-tasks.ts';
import { stratumInstructions } from '../prompts.ts';
import { samplesField, weakSamplesField } from './settings.ts';
import { firstOfTask, sampleOf, stepCount, stepsOf } from './shared.ts';

/** How hard a question is for the weak model. */
type Stratum = 'direct' | 'atomic' | 'hard';

const strata: readonly Stratum[] = ['direct', 'atomic', 'hard'];

const share = (preset: number, about: string) =>
  quantity({ min: 0, max: 1, default: preset, unit: 'fraction of examples', about });

const settings = z.strictObject({
  weakSamples: weakSamplesField,
  samples: samplesField(2),
  easyRate: quantity({
    ...{ min: 0, max: 1, default: 0.75, unit: 'fraction' },
    about: 'Pass rate of the weak model from which a question is answered directly.',
  }),
  hardRate: quantity({
    ...{ min: 0, max: 1, default: 0.25, unit: 'fraction' },
    about: 'Pass rate below which a question is worked on step by step.',
  }),
  directShare: share(0.3, 'Direct answers in the composition; the paper prints no shares.'),
  atomicShare: share(0.4, 'Single operations in the composition.'),
  hardShare: share(0.3, 'Step by step examples in the composition.'),
  total: optionalCount({
    ...{ min: 1, max: 100_000_000, unit: 'examples' },
    about: 'Examples of the composition (34,000 in the paper); unset: as many as the shares allow.',
  }),
  validates: flag({
    default: true,
    about: 'Whether a judge validates every trajectory; needs a judge.',
  }),
});

type Settings = SettingsOf<typeof settings>;

export const codedance = definePipeline({
  name: 'codedance',
  description: 'CodeDance’s weak-to-strong curation: direct, atomic and hard questions, validated.',
  paper: 'CodeDance, arXiv:2512.17312, §3.2, §7',
  needs: ['weak'],
  settings,
  async run(chosen, context) {
    const { weak = context.teacher, tasks, onEvent } = context;
    const rates = await measurePassRates(
      tasks,
      { player: weak, samples: chosen.weakSamples },
      context,
    );
    const steps: StepCount[] = [];
    const unknown = rates.filter(({ rate }) => rate === undefined).length;
    const reasons = unknown === 0 ? {} : { 'every sample failed': unknown };
    steps.push(stepCount('pass rate', tasks.length, reasons));
    const kept = new Map<Stratum, readonly Candidate[]>();
    for (const stratum of strata) {
      const own = tasks.filter((_, index) => stratumOf(rates[index], chosen) === stratum);
      const made = await playStratum(stratum, own, chosen, context);
      steps.push(...made.steps);
      kept.set(stratum, made.kept);
    }
    if (chosen.validates && context.judge === undefined) {
      const message = 'No judge is given: trajectories are not validated. Give --judge-url.';
      onEvent({ kind: 'warning', message });
    }
    const composed = compose(kept, chosen);
    steps.push(composed.count);
    return {
      // A policy will have the protocol's own prompt, whatever the teacher was told.
      samples: composed.candidates.map((one) => sampleOf(one, context.teacher.protocol)),
      steps,
      passRates: rates,
      facts: strata.map((stratum) => ({
        name: `${stratum} examples`,
        value: composed.candidates.filter(({ facts }) => facts?.stratum === stratum).length,
      })),
    };
  },
});

function stratumOf(
  rate: PassRate | undefined,
  { easyRate, hardRate }: Pick<Settings, 'easyRate' | 'hardRate'>,
): Stratum | undefined {
  if (rate?.rate === undefined) return undefined;
  if (rate.rate >= easyRate) return 'direct';
  return rate.rate < hardRate ? 'hard' : 'atomic';
}

/** The protocol as a stratum is played in. */
function protocolOf(stratum: Stratum, protocol: Protocol): Protocol {
  if (stratum === 'direct') return withPrompting(protocol, 'direct');
  const instruction = stratumInstructions[stratum];
  return {
    ...protocol,
    prompt(task) {
      const { user, ...rest } = protocol.prompt(task);
      return { ...rest, user: [...user, { kind: 'text', text: `\n${instruction}` }] };
    },
  };
}

async function playStratum(
  stratum: Stratum,
  tasks: readonly Task[],
  { samples, validates }: Settings,
  context: SynthesisContext,
): Promise<{ readonly kept: readonly Candidate[]; readonly steps: readonly StepCount[] }> {
  const { teacher } = context;
  const protocol = protocolOf(stratum, teacher.protocol);
  const played = await playTasks(
    tasks,
    { player: teacher, protocol, samples, name: `candidates-${stratum}` },
    context,
  );
  const candidates = played.map((one) => ({ ...one, facts: { stratum } }));
  const turns = { direct: [0, 0], atomic: [1, 1], hard: [1, 1000] } as const;
  const [least, most] = turns[stratum];
  const filters = [
    wrongAnswer.with(),
    fewToolTurns.with({ least, most }),
    failedExecutions.with(),
    ...(validates && context.judge !== undefined ? [judge.with()] : []),
  ];
  const { kept, counts } = await applyFilters(candidates, filters, context);
  const first = firstOfTask(kept, 1);
  const steps = [...stepsOf(counts), first.count].map((one) => ({
    ...one,
    step: `${stratum}: ${one.step}`,
  }));
  return { kept: first.kept, steps };
}

/** So many of each stratum that the shares hold, and no more than wanted. */
function compose(kept: ReadonlyMap<Stratum, readonly Candidate[]>, settings: Settings) {
  const { directShare, atomicShare, hardShare, total } = settings;
  const sum = directShare + atomicShare + hardShare || 1;
  const shares = { direct: directShare / sum, atomic: atomicShare / sum, hard: hardShare / sum };
  const allowed = strata.map((stratum) => {
    const own = shares[stratum];
    return own === 0 ? Number.POSITIVE_INFINITY : (kept.get(stratum)?.length ?? 0) / own;
  });
  // A stratum without examples must not empty the others: then there are no shares to hold.
  const least = Math.min(...allowed.filter((count) => count > 0), Number.POSITIVE_INFINITY);
  const size = Math.min(least, total ?? Number.POSITIVE_INFINITY);
  const candidates = strata.flatMap((stratum) => {
    const own = kept.get(stratum) ?? [];
    return own.slice(0, Number.isFinite(size) ? Math.round(size * shares[stratum]) : own.length);
  });
  const given = strata.reduce((all, stratum) => all + (kept.get(stratum)?.length ?? 0), 0);
  const more = given - candidates.length;
  return {
    candidates,
    count: stepCount('composition', given, more === 0 ? {} : { 'beyond its share': more }),
  };
}
