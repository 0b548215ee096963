/** The interface between the interpreter and the libraries. */

import type { Session } from './session.ts';
import type { Arguments, Value } from './values.ts';

export interface Call {
  readonly session: Session;
  readonly args: Arguments;
  readonly line: number;
}

/**
 * A library: functions by their dotted path, methods and attributes of its objects. Each gives
 * undefined for what it does not know.
 */
export interface Library {
  /** Module paths it answers for, the first part: `numpy`. */
  readonly modules: readonly string[];
  /** `numpy.rot90(…)` */
  call(path: string, call: Call): Value | undefined;
  /** `image.crop(…)`, `enhancer.enhance(…)` */
  callMethod?(self: Value, name: string, call: Call): Value | undefined;
  /** `image.size` */
  attribute?(self: Value, name: string, session: Session, line: number): Value | undefined;
  /** `array[1:2, 3:4]` */
  index?(self: Value, indices: readonly Value[], session: Session, line: number): Value | undefined;
  /** A constant of a module: `math.pi`. */
  constant?(path: string): Value | undefined;
}
