export type { Scored, ServedEnvironments } from './environments.ts';
export { type ScoringParts, scoreWith } from './score-with.ts';
export { type EnvServiceOptions, openEnvService } from './service.ts';
