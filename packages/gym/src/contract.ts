/**
 * Contracts of all task sets and protocols, as plain checks: each throws an Error that says what
 * broke.
 */
export { type ProtocolCheck, protocolContract } from './contract-protocols.ts';
export { type TaskSetCheck, taskSetContract } from './contract-task-sets.ts';
