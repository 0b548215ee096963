/** `tensorboard`: event files that `tensorboard --logdir` shows. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from '@saccade/core/settings';
import type { MetricsRow } from '@saccade/run-store';
import { z } from 'zod';
import { encodeEvent, type TensorboardEvent } from '../event-file/event.ts';
import { encodeRecord } from '../event-file/record.ts';
import { defineTracker } from '../tracker.ts';

const settings = z.strictObject({
  path: text({
    default: 'tensorboard',
    unit: 'path',
    about: 'The folder of the event files, from the run’s directory.',
  }),
});

/**
 * Scalars under `<stage>/<metric>`, at the step of the row. Numbers that are not finite are written
 * as they are. A resumed run adds a file whose first event tells TensorBoard to drop the steps that
 * are done again.
 */
export const tensorboard = defineTracker({
  name: 'tensorboard',
  description: 'Event files for TensorBoard; show them with tensorboard --logdir <run>.',
  settings,
  open({ path }, { directory, rows }) {
    const folder = resolve(directory, path);
    mkdirSync(folder, { recursive: true });
    const now = Date.now();
    // Files are read in the order of their names: the time in milliseconds keeps that of attempts.
    const name = `events.out.tfevents.${now}.${hostname()}`;
    const file = openSync(join(folder, name), 'wx');
    const write = (event: TensorboardEvent): void => {
      writeSync(file, encodeRecord(encodeEvent(event)));
    };
    write({ kind: 'version', wallSeconds: now / 1000 });
    const last = rows.at(-1);
    if (last !== undefined) {
      write({ kind: 'restart', wallSeconds: now / 1000, step: last.step + 1 });
    }
    return {
      metrics(row) {
        const scalars = scalarsOf(row);
        if (scalars.length === 0) return;
        write({ kind: 'scalars', wallSeconds: Date.now() / 1000, step: row.step, scalars });
      },
      close: () => closeSync(file),
    };
  },
});

function scalarsOf({ stage, step: _, ...values }: MetricsRow) {
  return Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'number' ? [{ tag: `${stage}/${name}`, value }] : [],
  );
}
