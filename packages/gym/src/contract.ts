/**
 * What every task set and every protocol must keep, as plain checks: each throws an Error that says
 * what broke.
 */
export { type ProtocolCheck, protocolContract } from './contract-protocols.ts';
export { type TaskSetCheck, taskSetContract } from './contract-task-sets.ts';
