/** Reads an engine's JSON field by field; what is missing is named with its path. */
import { EngineError } from './engine-error.ts';

export class AnswerFields {
  readonly #value: unknown;
  readonly #where: string;

  /** @param where names the answer in messages, e.g. its URL */
  constructor(value: unknown, where: string) {
    this.#value = value;
    this.#where = where;
  }

  has(field: string): boolean {
    return this.#get(field) !== undefined && this.#get(field) !== null;
  }

  /** An object, or whatever stands there, with its path. */
  at(field: string | number): AnswerFields {
    const part = typeof field === 'number' ? `[${field}]` : `.${field}`;
    return new AnswerFields(this.#get(field), `${this.#where}${part}`);
  }

  /** The value itself, unchecked. */
  raw(): unknown {
    return this.#value;
  }

  list(): readonly AnswerFields[] {
    if (!Array.isArray(this.#value)) throw this.#unlike('a list');
    return this.#value.map((_, index) => this.at(index));
  }

  number(): number {
    if (typeof this.#value !== 'number' || !Number.isFinite(this.#value)) {
      throw this.#unlike('a number');
    }
    return this.#value;
  }

  /** A token id. */
  token(): number {
    const value = this.number();
    if (!Number.isInteger(value) || value < 0) throw this.#unlike('a token id');
    return value;
  }

  text(): string {
    if (typeof this.#value !== 'string') throw this.#unlike('a text');
    return this.#value;
  }

  #get(field: string | number): unknown {
    if (typeof this.#value !== 'object' || this.#value === null) return undefined;
    return (this.#value as Record<string | number, unknown>)[field];
  }

  #unlike(what: string): EngineError {
    const found = JSON.stringify(this.#value)?.slice(0, 100) ?? 'nothing';
    return new EngineError(
      'garbled',
      `${this.#where} should be ${what}, is ${found}. The server speaks another version of its ` +
        'protocol; look at `probeEngine`.',
    );
  }
}
