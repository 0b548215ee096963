/** Where the time of a run went, as data: a tree of spans, and its parts by name. */

/**
 * How a span spends its time.
 *
 * - `stage`: a part of the run that others are in
 * - `work`: JavaScript, and what it calls and waits for without letting go, such as kernels that block
 * - `elsewhere`: work of another process or thread, while JavaScript had nothing to do
 * - `wait`: nothing is known to have worked
 */
export type SpanKind = 'stage' | 'work' | 'elsewhere' | 'wait';

/** A span of a profile, all times it was entered taken together. */
export interface ProfiledSpan {
  /** A part before a slash is the group it counts to: `kernels/gemm`. */
  readonly name: string;
  readonly kind: SpanKind;
  /** Seconds of the clock that are its own, and of no other span. */
  readonly seconds: number;
  /** Times it was entered. */
  readonly count: number;
  /** Of `elsewhere`: sum of how long each took, however many there were at a time. */
  readonly inFlightSeconds?: number;
  readonly spans: readonly ProfiledSpan[];
}

/** A profile: spans whose own seconds add up to the seconds of the clock. */
export interface Profile {
  /** From start to end, by the clock. */
  readonly seconds: number;
  readonly root: ProfiledSpan;
}

/** All spans of one name, wherever they are. */
export interface ProfilePart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly seconds: number;
  /** Of the profile's seconds. */
  readonly share: number;
  readonly count: number;
  readonly inFlightSeconds?: number;
}

/** A group of parts, e.g. all kernels; of one part where its name has no slash. */
export interface ProfileGroup extends ProfilePart {
  readonly parts: readonly ProfilePart[];
}

/** Seconds of a span with those inside it. */
export function secondsOf({ seconds, spans }: ProfiledSpan): number {
  return spans.reduce((sum, span) => sum + secondsOf(span), seconds);
}

/**
 * The part of a profile that was in the stages of one name, all of them together.
 *
 * @returns undefined if there was no such stage
 */
export function stageOf({ root }: Profile, name: string): Profile | undefined {
  const found: ProfiledSpan[] = [];
  const look = (span: ProfiledSpan): void => {
    if (span.kind === 'stage' && span.name === name) found.push(span);
    else for (const inner of span.spans) look(inner);
  };
  look(root);
  const [first, ...others] = found;
  if (first === undefined) return undefined;
  const merged = others.reduce(merge, first);
  return { seconds: secondsOf(merged), root: merged };
}

function merge(a: ProfiledSpan, b: ProfiledSpan): ProfiledSpan {
  const others = new Map(b.spans.map((span) => [span.name, span]));
  const spans = a.spans.map((span) => {
    const other = others.get(span.name);
    others.delete(span.name);
    return other === undefined ? span : merge(span, other);
  });
  const inFlight = (a.inFlightSeconds ?? 0) + (b.inFlightSeconds ?? 0);
  return {
    ...a,
    seconds: a.seconds + b.seconds,
    count: a.count + b.count,
    ...(a.inFlightSeconds !== undefined && { inFlightSeconds: inFlight }),
    spans: [...spans, ...others.values()],
  };
}

/** A profile by name, whatever stage it was in; largest first. The shares add up to 1. */
export function groupsOf({ seconds: whole, root }: Profile): readonly ProfileGroup[] {
  const parts = new Map<string, ProfilePart>();
  const add = (span: ProfiledSpan): void => {
    for (const inner of span.spans) add(inner);
    if (span.kind === 'stage') return;
    const before = parts.get(span.name);
    const seconds = (before?.seconds ?? 0) + span.seconds;
    const inFlight = (before?.inFlightSeconds ?? 0) + (span.inFlightSeconds ?? 0);
    parts.set(span.name, {
      name: span.name,
      kind: span.kind,
      seconds,
      share: whole > 0 ? seconds / whole : 0,
      count: (before?.count ?? 0) + span.count,
      ...(span.kind === 'elsewhere' && { inFlightSeconds: inFlight }),
    });
  };
  add(root);
  const groups = new Map<string, ProfilePart[]>();
  for (const part of parts.values()) {
    const name = part.name.split('/')[0] as string;
    groups.set(name, [...(groups.get(name) ?? []), part]);
  }
  return bySeconds([...groups].map(([name, own]) => groupOf(name, own)));
}

function groupOf(name: string, own: readonly ProfilePart[]): ProfileGroup {
  const sum = (value: (part: ProfilePart) => number): number =>
    own.reduce((total, part) => total + value(part), 0);
  const parts = bySeconds(own);
  const isElsewhere = own.some(({ kind }) => kind === 'elsewhere');
  return {
    name,
    kind: parts[0]?.kind ?? 'work',
    seconds: sum(({ seconds }) => seconds),
    share: sum(({ share }) => share),
    count: sum(({ count }) => count),
    ...(isElsewhere && { inFlightSeconds: sum(({ inFlightSeconds = 0 }) => inFlightSeconds) }),
    parts,
  };
}

function bySeconds<One extends ProfilePart>(all: readonly One[]): readonly One[] {
  return [...all].sort((a, b) => b.seconds - a.seconds);
}
