export { openPolicyService, type PolicyServiceOptions, policyService } from './policy-service.ts';
export type { ServedPolicy } from './served-engine.ts';
