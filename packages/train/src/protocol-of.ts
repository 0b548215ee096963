import type { Protocol } from '@saccade/gym';
import { type ChosenTool, describeTools, type Tool } from '@saccade/tools';
import type { ResolvedRun } from './run-config.ts';
import { required, settingsOf } from './unit-settings.ts';

/** The tools that a run names, with their settings; undefined where it leaves them to the protocol. */
export function chosenTools({ config, units }: ResolvedRun): readonly ChosenTool[] | undefined {
  return units.tools?.map((choice, index) => {
    const selected = config.tools?.[index];
    return { choice, settings: selected === undefined ? {} : settingsOf(selected) };
  });
}

/** The protocol of a run, at its settings, with its tools as far as they are known unopened. */
export function protocolOf(run: ResolvedRun): Protocol {
  const chosen = chosenTools(run);
  return protocolWith(run, chosen && describeTools(chosen));
}

/** The protocol of a run, at its settings, with these tools; default: its own. */
export function protocolWith({ config, units }: ResolvedRun, tools?: readonly Tool[]): Protocol {
  return required(units.protocol).with(settingsOf(config.protocol), tools);
}
