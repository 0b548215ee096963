/** Reads every row of a source, and says which cannot be used. */
import type { EventSink } from '@saccade/core';
import type { Split } from '@saccade/gym';
import { DataSource, type SourceContext } from '../sources/data-source.ts';
import type { SourceSettings } from '../sources/source-settings.ts';

/** Problems that are listed; all are counted. */
const LISTED = 100;

/** The rows of a source, checked. */
export interface CheckedSource {
  readonly name: string;
  readonly format: string;
  readonly mapping: string;
  readonly license: string;
  readonly rows: number;
  readonly corrupt: number;
  /** The first problems, by the address of their row. */
  readonly problems: readonly { readonly address: string; readonly problem: string }[];
}

/** @throws as opening the source does; a corrupt row is no error here, however many there are */
export async function checkSource(
  settings: SourceSettings,
  context: SourceContext = {},
): Promise<CheckedSource> {
  const { onEvent, ...rest } = context;
  const quiet: EventSink = (event) => event.kind === 'progress' && onEvent?.(event);
  const source = await DataSource.open({ ...settings, maxCorruptShare: 1 }, { ...rest, onEvent: quiet });
  try {
    let rows = 0;
    for (const split of ['train', 'heldOut'] as const satisfies readonly Split[]) {
      const total = source.size(split);
      for (let number = 0; number < total; number++) {
        await source.mapped(split, number);
        rows++;
        onEvent?.({ kind: 'progress', stage: `check ${split}`, done: number + 1, total });
      }
    }
    const { problems } = source.corrupt;
    return {
      name: source.name,
      format: source.tables.format,
      mapping: source.mapping.name,
      license: source.tables.card?.license ?? 'not stated',
      rows,
      corrupt: problems.size,
      problems: [...problems].slice(0, LISTED).map(([address, problem]) => ({ address, problem })),
    };
  } finally {
    await source.dispose();
  }
}
