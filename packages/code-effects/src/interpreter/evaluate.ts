/** Evaluates expressions as far as their values are known. */
import { libraries } from '../libraries/libraries.ts';
import type { Argument, Expression } from '../syntax/ast.ts';
import { assign } from './assign.ts';
import { GiveUp, MAX_TEXT } from './budget.ts';
import { callBuiltin, callPlainMethod, extend, textOf } from './builtins.ts';
import { bindArguments, lookUp, mergeValues } from './names.ts';
import { applyBinary, applyUnary, compare, indexPlain, itemsOf } from './operators.ts';
import type { Session } from './session.ts';
import { isPlain, judgeUnfollowed } from './unfollowed.ts';
import {
  Arguments,
  type FunctionValue,
  isFollowed,
  keyOf,
  list,
  none,
  number,
  PythonError,
  type Scope,
  text,
  truthOf,
  tuple,
  unknown,
  type Value,
  weightOf,
} from './values.ts';

/** Runs the body of a function; given by the interpreter, as bodies are statements. */
export type RunBody = (callee: FunctionValue, scope: Scope) => Value;

const MAX_DEPTH = 24;
/** Steps that a call takes besides those of its body. */
const CALLED = 8;
/** `for` clauses of one comprehension. */
const MAX_CLAUSES = 16;

export class Evaluator {
  readonly session: Session;
  readonly #runBody: RunBody;
  #depth = 0;

  constructor(session: Session, runBody: RunBody) {
    this.session = session;
    this.#runBody = runBody;
  }

  evaluate(expression: Expression, scope: Scope): Value {
    const { budget } = this.session;
    budget.spend();
    return budget.inside(() => this.#evaluate(expression, scope));
  }

  #evaluate(expression: Expression, scope: Scope): Value {
    const read = (part: Expression): Value => this.evaluate(part, scope);
    switch (expression.kind) {
      case 'name':
        return lookUp(expression.name, scope);
      case 'number':
        return number(expression.value, expression.isInteger);
      case 'text':
        return text(expression.value);
      case 'boolean':
        return { kind: 'boolean', value: expression.value };
      case 'none':
        return none;
      case 'ellipsis':
        return { kind: 'ellipsis' };
      case 'format': {
        const parts = expression.parts.map((part) => textOf(read(part)));
        if (parts.includes(undefined)) return unknown;
        const texts = parts.map((part) => (part?.kind === 'text' ? part.value : ''));
        const length = texts.reduce((sum, part) => sum + part.length, 0);
        return length > MAX_TEXT ? unknown : text(texts.join(''));
      }
      case 'list': {
        const items = this.#items(expression.items, scope);
        if (items === undefined) return unknown;
        return expression.isTuple ? tuple(items) : list(items);
      }
      case 'dictionary': {
        const entries = new Map<string, Value>();
        let { isOpen } = expression;
        for (const [key, value] of expression.entries) {
          const name = keyOf(read(key));
          if (name === undefined) isOpen = true;
          else entries.set(name, read(value));
        }
        return { kind: 'dictionary', entries, isOpen };
      }
      case 'unary':
        return applyUnary(expression.operator, read(expression.operand));
      case 'binary':
        return this.#binary(expression, scope);
      case 'comparison':
        return this.#comparison(expression.operands, expression.operators, scope);
      case 'conditional': {
        const truth = truthOf(read(expression.test));
        if (truth !== undefined) return read(truth ? expression.value : expression.otherwise);
        return this.#either(expression.value, expression.otherwise, scope);
      }
      case 'lambda': {
        const { parameters, body } = expression;
        return {
          kind: 'function',
          parameters,
          fallbacks: this.fallbacks(parameters, scope),
          body,
          scope,
        };
      }
      case 'call':
        return this.#call(expression, scope);
      case 'attribute': {
        const object = read(expression.object);
        if (expression.name === '__dict__') this.session.isOpen = true;
        return this.attribute(object, expression.name, expression.line);
      }
      case 'subscript': {
        const object = read(expression.object);
        const indices = expression.indices.map(read);
        const isWhole = object.kind === 'text' || indices.some(({ kind }) => kind === 'slice');
        if (isWhole) this.session.budget.spend(weightOf(object));
        return this.index(object, indices, expression.isTuple, expression.line);
      }
      case 'slice': {
        const side = (part: Expression | undefined): Value =>
          part === undefined ? none : read(part);
        const { lower, upper, step } = expression;
        return { kind: 'slice', lower: side(lower), upper: side(upper), step: side(step) };
      }
      case 'comprehension': {
        const items: Value[] = [];
        const inner: Scope = { variables: new Map(), outer: scope, globals: new Set() };
        const isKnown = this.#comprehend(expression, 0, inner, items);
        return isKnown && expression.isSequence ? list(items) : unknown;
      }
      case 'walrus': {
        const value = read(expression.value);
        scope.variables.set(expression.name, value);
        return value;
      }
      case 'star':
        return unknown;
      case 'opaque':
        for (const part of expression.parts) read(part);
        return unknown;
    }
  }

  /** Fallbacks of parameters are evaluated where the function is defined. */
  fallbacks(parameters: FunctionValue['parameters'], scope: Scope): ReadonlyMap<string, Value> {
    const known = new Map<string, Value>();
    for (const { name, fallback } of parameters) {
      if (fallback !== undefined) known.set(name, this.evaluate(fallback, scope));
    }
    return known;
  }

  #items(items: readonly Expression[], scope: Scope): Value[] | undefined {
    const values: Value[] = [];
    let isKnown = true;
    for (const item of items) {
      if (item.kind !== 'star') values.push(this.evaluate(item, scope));
      else {
        const inner = itemsOf(this.evaluate(item.operand, scope));
        if (inner === undefined || !isFollowed(values.length + inner.length)) isKnown = false;
        else values.push(...inner);
        this.session.budget.spend(inner === undefined ? 0 : inner.length);
      }
    }
    return isKnown ? values : undefined;
  }

  #binary(expression: Expression & { kind: 'binary' }, scope: Scope): Value {
    const { operator, line } = expression;
    const left = this.evaluate(expression.left, scope);
    if (operator === 'and' || operator === 'or') {
      const truth = truthOf(left);
      if (truth !== undefined && truth === (operator === 'or')) return left;
      if (truth !== undefined) return this.evaluate(expression.right, scope);
      this.#doubt(() => this.evaluate(expression.right, scope));
      return unknown;
    }
    const right = this.evaluate(expression.right, scope);
    this.session.budget.spend(weightOf(left) + weightOf(right));
    const plain = applyBinary(operator, left, right);
    if (plain.kind !== 'unknown') return plain;
    const args = new Arguments([left, right]);
    for (const library of libraries) {
      const value = library.callMethod?.(left.kind === 'image' ? left : right, operator, {
        session: this.session,
        args,
        line,
      });
      if (value !== undefined) return value;
    }
    return unknown;
  }

  #comparison(operands: readonly Expression[], operators: readonly string[], scope: Scope): Value {
    let isUnknown = false;
    let left = operands[0] === undefined ? unknown : this.evaluate(operands[0], scope);
    for (const [index, operator] of operators.entries()) {
      const operand = operands[index + 1];
      const right = operand === undefined ? unknown : this.evaluate(operand, scope);
      // Each item is compared by all its parts.
      this.session.budget.spend(8 * (weightOf(left) + weightOf(right)));
      const truth = truthOf(compare(operator, left, right));
      if (truth === false) return { kind: 'boolean', value: false };
      if (truth === undefined) isUnknown = true;
      left = right;
    }
    return isUnknown ? unknown : { kind: 'boolean', value: true };
  }

  #doubt<Result>(run: () => Result): Result {
    this.session.doubts++;
    try {
      return run();
    } finally {
      this.session.doubts--;
    }
  }

  /** Both sides of a condition that is not known; their value if they agree. */
  #either(value: Expression, otherwise: Expression, scope: Scope): Value {
    return this.#doubt(() => {
      const [a, b] = [this.evaluate(value, scope), this.evaluate(otherwise, scope)];
      return mergeValues(a, b);
    });
  }

  #comprehend(
    expression: Expression & { kind: 'comprehension' },
    depth: number,
    scope: Scope,
    items: Value[],
  ): boolean {
    const clause = expression.clauses[depth];
    if (clause === undefined) {
      extend(items, [this.evaluate(expression.element, scope)]);
      return true;
    }
    if (depth >= MAX_CLAUSES) throw new GiveUp('nesting');
    const values = itemsOf(this.evaluate(clause.iterable, scope));
    if (values === undefined) {
      this.#doubt(() => {
        this.assign(clause.target, unknown, scope);
        this.#comprehend(expression, depth + 1, scope, []);
      });
      return false;
    }
    let isKnown = true;
    for (const value of values) {
      this.assign(clause.target, value, scope);
      const truths = clause.conditions.map((part) => truthOf(this.evaluate(part, scope)));
      if (truths.includes(false)) continue;
      const next = (): boolean => this.#comprehend(expression, depth + 1, scope, items);
      if (truths.includes(undefined)) {
        this.#doubt(next);
        isKnown = false;
      } else isKnown = next() && isKnown;
    }
    return isKnown;
  }

  /** Binds names, unpacks sequences. */
  assign(target: Expression, value: Value, scope: Scope): void {
    assign(target, value, scope, (expression) => this.evaluate(expression, scope));
  }

  attribute(self: Value, name: string, line: number): Value {
    if (self.kind === 'path') {
      const path = `${self.path}.${name}`;
      for (const library of libraries) {
        const value = library.constant?.(path);
        if (value !== undefined) return value;
      }
      return { kind: 'path', path };
    }
    for (const library of libraries) {
      const value = library.attribute?.(self, name, this.session, line);
      if (value !== undefined) return value;
    }
    if (self.kind === 'object') {
      const field = self.fields.get(name);
      if (field !== undefined) return field;
    }
    return { kind: 'method', self, name };
  }

  index(self: Value, indices: readonly Value[], isTuple: boolean, line: number): Value {
    const [only = unknown] = indices;
    if (self.kind === 'image' && indices.length === 1 && only.kind === 'sequence') {
      if (only.isTuple) return this.index(self, only.items, true, line);
    }
    for (const library of libraries) {
      const value = library.index?.(self, indices, this.session, line);
      if (value !== undefined) return value;
    }
    const index = isTuple ? tuple([...indices]) : only;
    if (self.kind === 'dictionary') {
      const key = keyOf(index);
      const found = key === undefined ? undefined : self.entries.get(key);
      if (found === undefined && key !== undefined && !self.isOpen) {
        throw new PythonError('KeyError');
      }
      return found ?? unknown;
    }
    return indexPlain(self, index);
  }

  #arguments(given: readonly Argument[], scope: Scope): Arguments {
    const positional: Value[] = [];
    const named = new Map<string, Value>();
    for (const { name, stars, value } of given) {
      const evaluated = this.evaluate(value, scope);
      if (stars === 1) {
        const items = itemsOf(evaluated) ?? [unknown];
        this.session.budget.spend(items.length);
        positional.push(...items);
      } else if (stars === 2) {
        if (evaluated.kind !== 'dictionary') continue;
        this.session.budget.spend(evaluated.entries.size);
        for (const [key, item] of evaluated.entries) {
          if (key.startsWith("'")) named.set(key.slice(1), item);
        }
      } else if (name === undefined) positional.push(evaluated);
      else named.set(name, evaluated);
    }
    return new Arguments(positional, named);
  }

  #call(expression: Expression & { kind: 'call' }, scope: Scope): Value {
    const { session } = this;
    const callee = this.evaluate(expression.callee, scope);
    const args = this.#arguments(expression.arguments, scope);
    const before = session.recorded;
    const value = this.call(callee, args, expression.line);
    const isFollowed = session.recorded > before || isPlain(callee, args);
    if (isFollowed) session.followed.add(expression.callee);
    else judgeUnfollowed(session, callee, args, expression.callee);
    return value;
  }

  call(callee: Value, args: Arguments, line: number): Value {
    const call = { session: this.session, args, line };
    this.session.budget.spend(args.all().reduce((sum, value) => sum + weightOf(value), 0));
    if (callee.kind === 'function') return this.#callFunction(callee, args);
    if (callee.kind === 'method') {
      if (!constantMethods.has(callee.name)) this.session.budget.spend(weightOf(callee.self));
      for (const library of libraries) {
        const value = library.callMethod?.(callee.self, callee.name, call);
        if (value !== undefined) return value;
      }
      return callPlainMethod(callee.self, callee.name, args);
    }
    if (callee.kind !== 'path') return unknown;
    const { path } = callee;
    if (path.startsWith('builtins.')) {
      const name = path.slice('builtins.'.length);
      const callBack = (inner: Value, values: readonly Value[]): Value =>
        this.call(inner, new Arguments(values), line);
      for (const library of libraries) {
        const value = library.modules.includes('builtins') ? library.call(path, call) : undefined;
        if (value !== undefined) return value;
      }
      return callBuiltin(name, args, callBack);
    }
    const [module = ''] = path.split('.');
    const known = libraries.find(({ modules }) => modules.includes(module));
    const fallback = libraries.find(({ modules }) => modules.includes('*'));
    return known?.call(path, call) ?? fallback?.call(path, call) ?? unknown;
  }

  #callFunction(callee: FunctionValue, args: Arguments): Value {
    if (this.#depth >= MAX_DEPTH) return unknown;
    this.session.budget.spend(CALLED);
    const scope = bindArguments(callee, args);
    this.#depth++;
    try {
      return this.#runBody(callee, scope);
    } finally {
      this.#depth--;
    }
  }
}

/** Methods of lists and dictionaries that take no longer on a long one. */
const constantMethods: ReadonlySet<string> = new Set(['append', 'pop', 'get']);
