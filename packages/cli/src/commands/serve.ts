/** `saccade serve`: its services. */
import type { LazyCommand } from './lazy-command.ts';
import { addServeEnv } from './serve-env.ts';
import { addServeLearner } from './serve-learner.ts';
import { addServeMcp } from './serve-mcp.ts';
import { addServePolicy } from './serve-policy.ts';
import { addServeRewards } from './serve-rewards.ts';
import { addServeSandbox } from './serve-sandbox.ts';
import { addServeTools } from './serve-tools.ts';

export function addServe(program: LazyCommand): void {
  const serve = program.command('serve').description('Serve a part of Saccade over HTTP.');
  addServePolicy(serve);
  addServeLearner(serve);
  addServeSandbox(serve);
  addServeTools(serve);
  addServeMcp(serve);
  addServeEnv(serve);
  addServeRewards(serve);
}
