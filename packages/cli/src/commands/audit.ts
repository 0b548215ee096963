/** The options of `saccade audit`. */
import { resolve } from 'node:path';
import type { AuditFlags } from '../audit.ts';
import { more } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addAudit(program: LazyCommand): void {
  program
    .command('audit')
    .description('Look for rewards that are earned without what they are meant for.')
    .argument('<run>', 'a run directory that keeps trajectories')
    .option(
      '--of <file>',
      'a file of <run>/trajectories without .jsonl, may be repeated (default: all steps)',
      more,
    )
    .option('--set <detector.threshold=value>', 'another threshold; may be repeated', more)
    .addOption(jsonOption())
    .addLazyHelp(async () => (await import('../audit.ts')).auditHelp())
    .action(async (run: string, flags: AuditFlags) =>
      (await import('../audit.ts')).audit(resolve(run), flags),
    );
}
