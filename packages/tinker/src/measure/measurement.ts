/** What was measured of a server, and what follows from it, in words. */
import type { LinearPath } from '../remote/gradient-path.ts';
import type { NamedLoss } from '../wire/schemas.ts';

/** One thing that was looked at. */
export interface Finding {
  readonly name: string;
  readonly isGood: boolean;
  /** What was measured, and what was expected. */
  readonly detail: string;
}

/**
 * What a server can be used for:
 *
 * - `linear`: any loss over log-probs;
 * - `linearized`: any loss, by a factor that was measured;
 * - `named`: only losses that it computes itself;
 * - `refused`: nothing that would train as it should.
 */
export type Verdict = 'linear' | 'linearized' | 'named' | 'refused';

/** The measurement of a server. */
export interface Measurement {
  readonly verdict: Verdict;
  /** How gradients of any loss reach it; absent with the extension, and where none do. */
  readonly path?: LinearPath;
  /** Whether the extension `saccade/1` carries the gradients. */
  readonly isExtended: boolean;
  /** Losses with names whose gradients were measured equal to ours. */
  readonly namedLosses: readonly NamedLoss[];
  /** Fields of the optimizer that have no effect. */
  readonly ignoredFields: readonly string[];
  /** Whether a step of one model leaves every other alone; unset where nobody looked. */
  readonly areModelsApart?: boolean;
  /** Whether images change what follows them; unset where nobody looked. */
  readonly seesImages?: boolean;
  readonly findings: readonly Finding[];
  /** Why it is refused, or not all can be done. */
  readonly reasons: readonly string[];
}

/** The measurement as lines for a person. */
export function describeMeasurement(measured: Measurement): readonly string[] {
  const { verdict, path, isExtended, namedLosses, ignoredFields, findings, reasons } = measured;
  const { areModelsApart } = measured;
  const how = {
    linear: isExtended
      ? 'any loss: gradients of log-probs, entropies and values go by the extension saccade/1.'
      : 'any loss over log-probs: its cross-entropy is −Σ w·logprob, linear and signed.',
    linearized: `any loss over log-probs, by ${path === undefined ? 'a measured factor' : words(path)}.`,
    named: `only losses of its own: ${namedLosses.join(', ')}.`,
    refused: 'nothing: training would go on with finite losses and learn noise.',
  }[verdict];
  return [
    `The server is ${verdict}: it can train ${how}`,
    ...reasons.map((reason) => `  ${reason}`),
    ...(ignoredFields.length > 0
      ? [`  It ignores these fields of the optimizer: ${ignoredFields.join(', ')}.`]
      : []),
    ...(areModelsApart === false
      ? [
          '  Weight decay of one model shrinks every other on the server, references too: leave it at ' +
            '0, or have the server for one model alone.',
        ]
      : []),
    ...findings.map(({ name, isGood, detail }) => `  ${isGood ? 'ok ' : 'BAD'} ${name}: ${detail}`),
  ];
}

function words({ loss, perToken, perDatum, perStep, scale }: LinearPath): string {
  const data = perStep ? 'the data of all requests of a step' : 'the data of a request';
  const divisors = [perToken && 'the positions of a datum', perDatum && data];
  const known = divisors.filter((one) => typeof one === 'string');
  const by = known.length === 0 ? 'nothing' : known.join(' and ');
  const factor = scale === 1 ? '' : `, and is ${scale.toPrecision(3)} times too large`;
  return `${loss} at the policy's own log-probs, which it divides by ${by}${factor}`;
}
