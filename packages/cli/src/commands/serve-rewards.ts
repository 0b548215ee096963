/** The options of `saccade serve rewards`. */
import { Option } from 'commander';
import type { ServeRewardsFlags } from '../serve-rewards.ts';
import { wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addListenOptions } from './listen-options.ts';

export function addServeRewards(serve: LazyCommand): void {
  const verifier = new Option('--verifier <name>').default('math');
  const rewards = serve
    .command('rewards')
    .description('Score responses for OpenRLHF, slime, TRL, verl and others.');
  addListenOptions(rewards, { port: 8700, tokenVariable: 'SACCADE_REWARDS_TOKEN' })
    .addOption(verifier)
    .option('--judge-url <url>', 'OpenAI-compatible server for answers that the rules refuse')
    .option('--judge-model <name>', 'its model')
    .option(
      '--judge-key-variable <name>',
      'environment variable that holds its key',
      'SACCADE_JUDGE_KEY',
    )
    .option('--judge-cache <file>', 'file that remembers grades (JSON Lines)')
    .option('--judge-concurrency <n>', 'calls of the judge at a time', wholeNumber, 16)
    .addHelpText(
      'after',
      `
Endpoints:
  POST /score      {"items":[{"response","expected","question"?,"verifier"?,"options"?}]}
  POST /openrlhf   OpenRLHF --remote_rm_url
  POST /slime      slime --rm-type remote_rm --rm-url
  GET  /health

Examples:
  saccade serve rewards
  saccade serve rewards --judge-url http://127.0.0.1:8000/v1 --judge-model Qwen2.5-72B-Instruct`,
    )
    .before('help', async () => {
      const { verifiers } = await import('@saccade/rewards');
      verifier.description = `one of ${verifiers.names.join(', ')}`;
    })
    .action(async (flags: ServeRewardsFlags) =>
      (await import('../serve-rewards.ts')).serveRewards(flags),
    );
}
