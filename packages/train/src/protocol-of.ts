import type { Protocol } from '@saccade/gym';
import type { ResolvedRun } from './run-config.ts';
import { required, settingsOf } from './unit-settings.ts';

/** The protocol of a run, at its settings. */
export function protocolOf({ config, units }: ResolvedRun): Protocol {
  return required(units.protocol).with(settingsOf(config.protocol), units.tools);
}
