/** Every error says the fact, then the remedy, with the values that led to it. */

/** Base of all typed errors; catch this to catch anything Saccade throws on purpose. */
export class SaccadeError extends Error {
  /** Stable machine-readable cause, e.g. `shape`. */
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An array's shape or length does not fit the operation. */
export class ShapeError extends SaccadeError {
  constructor(message: string) {
    super('shape', message);
  }
}

/** An array's element type does not fit the operation. */
export class DtypeError extends SaccadeError {
  constructor(message: string) {
    super('dtype', message);
  }
}

/** The request is valid, but nothing here can run it. */
export class UnsupportedError extends SaccadeError {
  constructor(message: string) {
    super('unsupported', message);
  }
}

/** A call that the object's present state does not allow, such as use after `dispose()`. */
export class StateError extends SaccadeError {
  constructor(message: string) {
    super('state', message);
  }
}

/** A configuration value is unknown, missing, of the wrong type or out of range. */
export class ConfigError extends SaccadeError {
  /** Path of the offending field, e.g. `rollout.groupSize`. */
  readonly field: string;

  constructor(field: string, message: string) {
    super('config', message);
    this.field = field;
  }
}

/** Data read from outside (a file, a server, a model) breaks its format. */
export class DataError extends SaccadeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('data', message, options);
  }
}

/** Something the machine should provide is missing: an addon, a driver, an interpreter. */
export class MissingError extends SaccadeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('missing', message, options);
  }
}

/** The message of an error, or the text of anything else that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
