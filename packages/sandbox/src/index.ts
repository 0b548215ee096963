export { defaultLimits, type Limits } from './limits.ts';
export type { CapturedImage, CodeError, Outcome, OutcomeKind } from './outcome.ts';
export type { InputImage, Sandbox, Session, SessionOptions } from './session.ts';
