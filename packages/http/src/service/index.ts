export { type AccessOptions, expectAccess, isLoopback } from './access.ts';
export type { BodyLimits } from './body-reader.ts';
export { type Call, callOf } from './call.ts';
export type { ClientLimitOptions } from './client-limits.ts';
export { type IdempotencyOptions, idempotent } from './idempotency.ts';
export type { ServiceMetrics } from './metrics.ts';
export { openService, type Service } from './open-service.ts';
export {
  badRequest,
  plainWording,
  Refusal,
  type RefusalOptions,
  type RefusalWording,
  type Rule,
} from './refusal.ts';
export { type RunServiceOptions, runService } from './run-service.ts';
export {
  bodyOf,
  bytesOf,
  newServiceApp,
  parseBody,
  readJson,
  type ServiceAppOptions,
} from './service-app.ts';
export type { ListenOptions, OpenServiceOptions, TlsOptions } from './service-options.ts';
export { type SessionLimits, Sessions } from './sessions.ts';
export type { Upgrade } from './upgrades.ts';
