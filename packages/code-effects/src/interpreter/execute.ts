/** Follows statements: branches that are known, loops over what is known, calls into functions. */

import { libraries } from '../libraries/libraries.ts';
import type { Handler, Statement } from '../syntax/ast.ts';
import { GiveUp } from './budget.ts';
import { extend } from './builtins.ts';
import { Evaluator } from './evaluate.ts';
import { bind, lookUp, mergeValues } from './names.ts';
import { applyBinary, itemsOf } from './operators.ts';
import type { Session } from './session.ts';
import {
  Arguments,
  type FunctionValue,
  none,
  PythonError,
  type Scope,
  truthOf,
  unknown,
  type Value,
  weightOf,
} from './values.ts';

/** How a list of statements was left. */
type Completion =
  | { readonly kind: 'next' }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' }
  | { readonly kind: 'return'; readonly value: Value };

const next: Completion = { kind: 'next' };
const MAX_ITERATIONS = 512;
const THROWN = 80;

export class Interpreter {
  readonly session: Session;
  readonly module: Scope = { variables: new Map(), globals: new Set() };
  /** Value of the last expression statement that was followed. */
  lastValue: Value = none;
  readonly #evaluator: Evaluator;

  constructor(session: Session) {
    this.session = session;
    this.#evaluator = new Evaluator(session, (callee, scope) => this.#runFunction(callee, scope));
    this.module.variables.set('__name__', { kind: 'text', value: '__main__' });
  }

  /**
   * Runs the code of a turn at the top level.
   *
   * @param untilLine an execution is known to have ended with an error there
   * @returns the class of the error it ends with, as far as it can be told
   */
  run(statements: readonly Statement[], untilLine?: number): string | undefined {
    try {
      for (const statement of statements) {
        if (untilLine !== undefined && statement.endLine >= untilLine) {
          this.#runBroken(statement, untilLine);
          return undefined;
        }
        this.#statement(statement, this.module);
      }
      return undefined;
    } catch (error) {
      if (error instanceof PythonError) return error.type;
      throw error;
    }
  }

  /** The statement that failed: of what it did, what stands on lines before is taken as done. */
  #runBroken(statement: Statement, line: number): void {
    if (statement.line > line) return;
    const { session } = this;
    const before = session.operations.length;
    const shownBefore = session.shown.length;
    try {
      this.#statement(statement, this.module);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
    }
    const kept = session.operations.filter((done, at) => at < before || done.line < line);
    session.operations = kept;
    if (statement.line === line) session.shown.length = shownBefore;
  }

  #block(statements: readonly Statement[], scope: Scope): Completion {
    for (const statement of statements) {
      const completion = this.#statement(statement, scope);
      if (completion.kind !== 'next') return completion;
    }
    return next;
  }

  #runFunction(callee: FunctionValue, scope: Scope): Value {
    if (!Array.isArray(callee.body)) {
      return this.#evaluator.evaluate(
        callee.body as Exclude<FunctionValue['body'], readonly Statement[]>,
        scope,
      );
    }
    const completion = this.#block(callee.body as readonly Statement[], scope);
    return completion.kind === 'return' ? completion.value : none;
  }

  #statement(statement: Statement, scope: Scope): Completion {
    const { budget } = this.session;
    budget.spend();
    return budget.inside(() => this.#follow(statement, scope));
  }

  #follow(statement: Statement, scope: Scope): Completion {
    const evaluate = (expression: Parameters<Evaluator['evaluate']>[0]): Value =>
      this.#evaluator.evaluate(expression, scope);
    switch (statement.kind) {
      case 'expression':
        this.lastValue = evaluate(statement.value);
        return next;
      case 'assign': {
        const value = evaluate(statement.value);
        for (const target of statement.targets) this.#evaluator.assign(target, value, scope);
        return next;
      }
      case 'update': {
        const { target, operator } = statement;
        const value = this.#update(
          evaluate(target),
          operator,
          evaluate(statement.value),
          statement.line,
        );
        this.#evaluator.assign(target, value, scope);
        return next;
      }
      case 'if': {
        const truth = truthOf(evaluate(statement.test));
        if (truth !== undefined) {
          return this.#block(truth ? statement.body : statement.otherwise, scope);
        }
        return this.#either([statement.body, statement.otherwise], scope);
      }
      case 'match':
        return this.#either([...statement.bodies, []], scope);
      case 'for':
        return this.#for(statement, scope);
      case 'while':
        return this.#while(statement, scope);
      case 'function': {
        const { name, parameters, body } = statement;
        const fallbacks = this.#evaluator.fallbacks(parameters, scope);
        const made: Value = { kind: 'function', parameters, fallbacks, body, scope };
        const decorators = (statement.decorators ?? []).map(evaluate).reverse();
        const line = statement.line;
        bind(
          name,
          decorators.reduce((inner, by) => this.#decorated(inner, by, line), made),
          scope,
        );
        return next;
      }
      case 'class':
        this.session.isOpen = true;
        bind(statement.name, unknown, scope);
        return next;
      case 'return':
        return {
          kind: 'return',
          value: statement.value === undefined ? none : evaluate(statement.value),
        };
      case 'raise': {
        const raised = statement.value && evaluate(statement.value);
        const path = raised?.kind === 'path' ? raised.path.split('.').at(-1) : undefined;
        const type = raised?.kind === 'object' ? raised.type : (path ?? 'Exception');
        throw new PythonError(type);
      }
      case 'break':
      case 'continue':
        return { kind: statement.kind };
      case 'global':
        for (const name of statement.names) scope.globals.add(name);
        return next;
      case 'import':
        for (const { path, name } of statement.names) {
          bind(name, name === '*' ? unknown : this.#imported(path), scope);
        }
        return next;
      case 'with':
        for (const { value, target } of statement.items) {
          const opened = evaluate(value);
          if (target !== undefined) this.#evaluator.assign(target, opened, scope);
        }
        return this.#block(statement.body, scope);
      case 'try':
        return this.#try(statement, scope);
      case 'delete':
        for (const target of statement.targets) {
          if (target.kind === 'name') scope.variables.delete(target.name);
        }
        return next;
      case 'assert':
        if (truthOf(evaluate(statement.test)) === false) throw new PythonError('AssertionError');
        return next;
      case 'pass':
        return next;
    }
  }

  /** A function after a decorator, which may call it, drop it, or give another one. */
  #decorated(inner: Value, decorator: Value, line: number): Value {
    if (decorator.kind === 'function') {
      return this.#evaluator.call(decorator, new Arguments([inner]), line);
    }
    const path = decorator.kind === 'path' ? decorator.path : '';
    const type = decorator.kind === 'object' ? decorator.type : '';
    if (transparentDecorators.test(path) || transparentDecorators.test(type)) return inner;
    this.session.isOpen = true;
    return unknown;
  }

  #imported(path: string): Value {
    for (const library of libraries) {
      const value = library.constant?.(path);
      if (value !== undefined) return value;
    }
    return { kind: 'path', path };
  }

  #update(current: Value, operator: string, value: Value, line: number): Value {
    if (current.kind === 'sequence' && !current.isTuple && operator === '+') {
      this.session.budget.spend(weightOf(value));
      extend(current.items, itemsOf(value) ?? [unknown]);
      return current;
    }
    const plain = applyBinary(operator, current, value);
    if (plain.kind !== 'unknown' || current.kind !== 'image') return plain;
    const args = new Arguments([current, value]);
    for (const library of libraries) {
      const result = library.callMethod?.(current, operator, { session: this.session, args, line });
      if (result !== undefined) return result;
    }
    return unknown;
  }

  /** Runs all of several bodies of which one runs, and keeps what they agree on. */
  #either(bodies: readonly (readonly Statement[])[], scope: Scope): Completion {
    const before = scope.variables;
    const ends: { readonly completion: Completion; readonly variables: Map<string, Value> }[] = [];
    let error: PythonError | undefined;
    this.session.doubts++;
    try {
      for (const body of bodies) {
        this.session.budget.spend(before.size >> 3);
        scope.variables = new Map(before);
        try {
          const completion = this.#block(body, scope);
          ends.push({ completion, variables: scope.variables });
        } catch (caught) {
          if (!(caught instanceof PythonError)) throw caught;
          error = caught;
        }
      }
    } finally {
      this.session.doubts--;
      scope.variables = before;
    }
    const going = ends.filter(({ completion }) => completion.kind === 'next');
    const followed = going.length > 0 ? going : ends;
    const [first, ...others] = followed;
    if (first === undefined) throw error ?? new PythonError('Exception');
    const merged = new Map(first.variables);
    for (const { variables } of others) {
      for (const name of new Set([...merged.keys(), ...variables.keys()])) {
        const [a, b] = [merged.get(name), variables.get(name)];
        if (a !== b) this.session.budget.spend(1 + weightOf(a) + weightOf(b));
        merged.set(
          name,
          a === undefined || b === undefined ? (a ?? b ?? unknown) : mergeValues(a, b),
        );
      }
    }
    scope.variables.clear();
    for (const [name, value] of merged) scope.variables.set(name, value);
    return first.completion;
  }

  #for(statement: Statement & { kind: 'for' }, scope: Scope): Completion {
    const { target, body, otherwise } = statement;
    const iterable = this.#evaluator.evaluate(statement.iterable, scope);
    const keys = iterable.kind === 'dictionary' ? this.#keysOf(iterable) : itemsOf(iterable);
    if (keys === undefined || keys.length > MAX_ITERATIONS) {
      this.#evaluator.assign(target, unknown, scope);
      const completion = this.#either([body, []], scope);
      return completion.kind === 'return' ? completion : next;
    }
    for (const item of keys) {
      this.#evaluator.assign(target, item, scope);
      const completion = this.#block(body, scope);
      if (completion.kind === 'return') return completion;
      if (completion.kind === 'break') return next;
    }
    return this.#block(otherwise, scope);
  }

  #keysOf(dictionary: Value): readonly Value[] | undefined {
    const keys = this.#evaluator.call(
      { kind: 'method', self: dictionary, name: 'keys' },
      new Arguments([]),
      0,
    );
    return itemsOf(keys);
  }

  #while(statement: Statement & { kind: 'while' }, scope: Scope): Completion {
    for (let count = 0; count < MAX_ITERATIONS; count++) {
      const truth = truthOf(this.#evaluator.evaluate(statement.test, scope));
      if (truth === false) return this.#block(statement.otherwise, scope);
      if (truth === undefined) {
        const completion = this.#either([statement.body, []], scope);
        return completion.kind === 'return' ? completion : next;
      }
      const completion = this.#block(statement.body, scope);
      if (completion.kind === 'return') return completion;
      if (completion.kind === 'break') return next;
    }
    throw new GiveUp('steps');
  }

  #try(statement: Statement & { kind: 'try' }, scope: Scope): Completion {
    let completion: Completion;
    try {
      completion = this.#guarded(statement, scope);
      if (completion.kind === 'next') completion = this.#block(statement.otherwise, scope);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      // Throwing takes as long as many steps.
      this.session.budget.spend(THROWN);
      const handler = statement.handlers.find((own) => this.#catches(own, error, scope));
      if (handler === undefined) {
        this.#block(statement.last, scope);
        throw error;
      }
      if (handler.name !== undefined) bind(handler.name, unknown, scope);
      try {
        completion = this.#block(handler.body, scope);
      } catch (raised) {
        if (raised instanceof PythonError) this.#block(statement.last, scope);
        throw raised;
      }
    }
    const last = this.#block(statement.last, scope);
    return last.kind === 'next' ? completion : last;
  }

  /** The body of a try statement: behind a call of something unknown, it may have been left. */
  #guarded({ body, handlers }: Statement & { kind: 'try' }, scope: Scope): Completion {
    const { session } = this;
    if (handlers.length === 0) return this.#block(body, scope);
    session.isOpen = true;
    const before = session.unknownCalls;
    let doubts = 0;
    try {
      for (const statement of body) {
        if (doubts === 0 && session.unknownCalls > before) {
          session.doubts++;
          doubts++;
        }
        const completion = this.#statement(statement, scope);
        if (completion.kind !== 'next') return completion;
      }
      return next;
    } finally {
      session.doubts -= doubts;
    }
  }

  #catches({ types }: Handler, error: PythonError, scope: Scope): boolean {
    if (types === undefined) return true;
    const named = types.kind === 'list' ? types.items : [types];
    return named.some((type) => {
      const name = type.kind === 'name' ? type.name : type.kind === 'attribute' ? type.name : '';
      if (type.kind === 'name') lookUp(type.name, scope);
      if (name === 'BaseException') return true;
      if (error.type === 'SystemExit') return name === 'SystemExit';
      return name === 'Exception' || name === error.type || parents[error.type] === name;
    });
  }
}

/** Decorators after which a function does what it did. */
const transparentDecorators = /^(builtins\.(static|class)method|functools\.(lru_cache|cache))$/;

const parents: Readonly<Record<string, string>> = {
  IndexError: 'LookupError',
  KeyError: 'LookupError',
  ZeroDivisionError: 'ArithmeticError',
  FileNotFoundError: 'OSError',
  ModuleNotFoundError: 'ImportError',
};
