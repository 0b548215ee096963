/** Metrics of all parts as one text in Prometheus' format, with the cluster's own. */
import { HttpClient, HttpError } from '@saccade/http';
import type { ClusterState, PartState } from './state.ts';

/** A metric of several parts: how it is described, and its samples. */
interface Family {
  help?: string;
  type?: string;
  readonly samples: string[];
}

/** Text of one part, with the labels that its samples get. */
export interface Exposition {
  readonly labels: Readonly<Record<string, string>>;
  readonly text: string;
}

const SECONDS = 5;
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const SUFFIX = /_(bucket|sum|count|total|created|info)$/;

/**
 * Joins texts of several parts: one description of each metric, all samples of it together, as the
 * format asks for. Lines that are no metric are left out.
 */
export function joinExpositions(expositions: readonly Exposition[]): string {
  const families = new Map<string, Family>();
  const family = (name: string): Family => {
    const known = families.get(name);
    if (known !== undefined) return known;
    const made: Family = { samples: [] };
    families.set(name, made);
    return made;
  };
  for (const { labels, text } of expositions) {
    const declared = new Set<string>();
    for (const line of text.split('\n')) {
      const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
      if (kind === 'HELP') family(name).help ??= rest;
      else if (kind === 'TYPE') {
        family(name).type ??= rest;
        declared.add(name);
      } else if (!line.startsWith('#')) addSample(line, labels, declared, family);
    }
  }
  const lines = [...families].flatMap(([name, { help, type, samples }]) =>
    samples.length === 0
      ? []
      : [
          ...(help === undefined ? [] : [`# HELP ${name} ${help}`]),
          ...(type === undefined ? [] : [`# TYPE ${name} ${type}`]),
          ...samples,
        ],
  );
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function addSample(
  line: string,
  labels: Readonly<Record<string, string>>,
  declared: ReadonlySet<string>,
  family: (name: string) => Family,
): void {
  const name = NAME.exec(line)?.[0];
  if (name === undefined) return;
  const rest = line.slice(name.length);
  const own = rest.startsWith('{') ? rest.slice(1, rest.lastIndexOf('}')) : '';
  const value = rest.startsWith('{') ? rest.slice(rest.lastIndexOf('}') + 1) : rest;
  if (!/^\s+\S/.test(value)) return;
  const short = name.replace(SUFFIX, '');
  const of = declared.has(name) || !declared.has(short) ? name : short;
  const all = [labelsOf(labels), own.replace(/,\s*$/, '')].filter((part) => part !== '').join(',');
  family(of).samples.push(`${name}${all === '' ? '' : `{${all}}`} ${value.trim()}`);
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replaceAll(/["\\\n]/g, '_')}"`)
    .join(',');
}

/** Asks all parts for their metrics; one that does not answer counts as down, and gives none. */
export async function collectMetrics(state: ClusterState, token?: string): Promise<string> {
  const answers = await Promise.all(
    state.parts.map(async (part) => ({ part, text: await metricsOf(part, token) })),
  );
  const own = answers.map(({ part, text }) => ({
    labels: { part: part.name, group: part.group },
    text: [
      '# HELP saccade_cluster_up 1 if the part answers for its metrics',
      '# TYPE saccade_cluster_up gauge',
      `saccade_cluster_up ${text === undefined ? 0 : 1}`,
      '# HELP saccade_cluster_healthy 1 if the supervisor found the part healthy',
      '# TYPE saccade_cluster_healthy gauge',
      `saccade_cluster_healthy ${part.state === 'healthy' ? 1 : 0}`,
      '# HELP saccade_cluster_restarts_total Losses of the part after which it was started again',
      '# TYPE saccade_cluster_restarts_total counter',
      `saccade_cluster_restarts_total ${part.restarts}`,
    ].join('\n'),
  }));
  const theirs = answers.map(({ part, text = '' }) => ({
    labels: { part: part.name, group: part.group },
    text,
  }));
  return joinExpositions([...own, ...theirs]);
}

async function metricsOf(
  { url, metrics, state }: PartState,
  token?: string,
): Promise<string | undefined> {
  if (url === null || state === 'ended' || state === 'failed') return undefined;
  const client = new HttpClient({
    ...{ baseUrl: url, timeoutSeconds: SECONDS, retries: 0, headers: { accept: 'text/plain' } },
    ...(token !== undefined && { token }),
  });
  try {
    return await client.text({ method: 'GET', path: metrics });
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}
