/** Python as a small tree: what of the language matters to follow images and numbers. */

interface At {
  /** Counted from 1. */
  readonly line: number;
}

export interface Argument {
  readonly name?: string;
  /** 1 for `*items`, 2 for `**items`. */
  readonly stars: 0 | 1 | 2;
  readonly value: Expression;
}

export interface Parameter {
  readonly name: string;
  readonly stars: 0 | 1 | 2;
  readonly fallback?: Expression;
}

export interface Clause {
  readonly target: Expression;
  readonly iterable: Expression;
  readonly conditions: readonly Expression[];
}

export type Expression = At &
  (
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'number'; readonly value: number; readonly isInteger: boolean }
    | { readonly kind: 'text'; readonly value: string }
    | { readonly kind: 'format'; readonly parts: readonly Expression[] }
    | { readonly kind: 'boolean'; readonly value: boolean }
    | { readonly kind: 'none' }
    | { readonly kind: 'ellipsis' }
    | { readonly kind: 'list'; readonly items: readonly Expression[]; readonly isTuple: boolean }
    | {
        readonly kind: 'dictionary';
        readonly entries: readonly (readonly [Expression, Expression])[];
        readonly isOpen: boolean;
      }
    | { readonly kind: 'unary'; readonly operator: string; readonly operand: Expression }
    | {
        readonly kind: 'binary';
        readonly operator: string;
        readonly left: Expression;
        readonly right: Expression;
      }
    /** a < b < c */
    | {
        readonly kind: 'comparison';
        readonly operands: readonly Expression[];
        readonly operators: readonly string[];
      }
    | {
        readonly kind: 'conditional';
        readonly test: Expression;
        readonly value: Expression;
        readonly otherwise: Expression;
      }
    | {
        readonly kind: 'lambda';
        readonly parameters: readonly Parameter[];
        readonly body: Expression;
      }
    | {
        readonly kind: 'call';
        readonly callee: Expression;
        readonly arguments: readonly Argument[];
      }
    | { readonly kind: 'attribute'; readonly object: Expression; readonly name: string }
    | {
        readonly kind: 'subscript';
        readonly object: Expression;
        readonly indices: readonly Expression[];
        /** Whether a comma makes the index a tuple even with one item. */
        readonly isTuple: boolean;
      }
    | {
        readonly kind: 'slice';
        readonly lower?: Expression;
        readonly upper?: Expression;
        readonly step?: Expression;
      }
    | {
        readonly kind: 'comprehension';
        readonly element: Expression;
        readonly clauses: readonly Clause[];
        readonly isSequence: boolean;
      }
    | { readonly kind: 'star'; readonly operand: Expression }
    | { readonly kind: 'walrus'; readonly name: string; readonly value: Expression }
    /** Anything else: its parts are evaluated, its value is not known. */
    | { readonly kind: 'opaque'; readonly parts: readonly Expression[] }
  );

export interface Handler {
  readonly types?: Expression;
  readonly name?: string;
  readonly body: readonly Statement[];
}

export interface ImportedName {
  /** Dotted path of what is imported. */
  readonly path: string;
  /** The name that it gets here; `*` for all. */
  readonly name: string;
}

export type Statement = At & {
  /** Last line of the statement. */
  readonly endLine: number;
} & (
    | { readonly kind: 'expression'; readonly value: Expression }
    | {
        readonly kind: 'assign';
        readonly targets: readonly Expression[];
        readonly value: Expression;
      }
    | {
        readonly kind: 'update';
        readonly target: Expression;
        readonly operator: string;
        readonly value: Expression;
      }
    | {
        readonly kind: 'if';
        readonly test: Expression;
        readonly body: readonly Statement[];
        readonly otherwise: readonly Statement[];
      }
    | {
        readonly kind: 'for';
        readonly target: Expression;
        readonly iterable: Expression;
        readonly body: readonly Statement[];
        readonly otherwise: readonly Statement[];
      }
    | {
        readonly kind: 'while';
        readonly test: Expression;
        readonly body: readonly Statement[];
        readonly otherwise: readonly Statement[];
      }
    | {
        readonly kind: 'function';
        readonly name: string;
        readonly parameters: readonly Parameter[];
        readonly body: readonly Statement[];
        readonly decorators?: readonly Expression[];
      }
    | {
        readonly kind: 'class';
        readonly name: string;
        /** Not followed; looked through for what it may do. */
        readonly body: readonly Statement[];
        readonly decorators?: readonly Expression[];
      }
    | { readonly kind: 'return'; readonly value?: Expression }
    | { readonly kind: 'raise'; readonly value?: Expression }
    | { readonly kind: 'break' }
    | { readonly kind: 'continue' }
    | { readonly kind: 'pass' }
    | { readonly kind: 'global'; readonly names: readonly string[] }
    | { readonly kind: 'import'; readonly names: readonly ImportedName[] }
    | {
        readonly kind: 'with';
        readonly items: readonly { readonly value: Expression; readonly target?: Expression }[];
        readonly body: readonly Statement[];
      }
    | {
        readonly kind: 'try';
        readonly body: readonly Statement[];
        readonly handlers: readonly Handler[];
        readonly otherwise: readonly Statement[];
        readonly last: readonly Statement[];
      }
    | { readonly kind: 'delete'; readonly targets: readonly Expression[] }
    | { readonly kind: 'assert'; readonly test: Expression }
    /** One of several bodies, which is not known. */
    | { readonly kind: 'match'; readonly bodies: readonly (readonly Statement[])[] }
  );
