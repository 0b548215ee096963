import type { Protocol } from '@saccade/gym';
import type { ResolvedRun } from './run-config.ts';
import { required, settingsOf } from './unit-settings.ts';

/** The protocol of a run, at its settings, with its tools at theirs. */
export function protocolOf({ config, units }: ResolvedRun): Protocol {
  const tools = units.tools?.map((tool, index) => {
    const selected = config.tools?.[index];
    return (selected && tool.with?.(settingsOf(selected))) ?? tool;
  });
  return required(units.protocol).with(settingsOf(config.protocol), tools);
}
