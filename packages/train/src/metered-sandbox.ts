/** A sandbox whose openings and executions are counted, with the processors that code took. */
import type { WorkMeter } from '@saccade/loop';
import type { Sandbox, Session } from '@saccade/sandbox';

/** The sandbox of a run's own rollouts. It owns nothing: the other one is disposed of. */
export function meteredSandbox(sandbox: Sandbox, work: WorkMeter): Sandbox {
  return {
    tier: sandbox.tier,
    stats: () => sandbox.stats(),
    dispose: () => sandbox.dispose(),
    processorSeconds: () => sandbox.processorSeconds?.(),
    async open(options) {
      return metered(await work.timed('open', () => sandbox.open(options)), work);
    },
  };
}

function metered(session: Session, work: WorkMeter): Session {
  return {
    dispose: () => session.dispose(),
    async execute(code, options) {
      const outcome = await session.execute(code, options);
      work.add('execute', outcome.wallMs / 1000, outcome.cpuMs / 1000);
      return outcome;
    },
  };
}
