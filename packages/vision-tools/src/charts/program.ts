/** Programs over the table of a chart: what a question of the closed grammar asks for. */

/** Rows and series by index, none for all. */
export interface Selection {
  readonly rows: readonly number[];
  readonly series: readonly number[];
}

/** One value by its row and series. */
export interface CellPlace {
  readonly row: number;
  readonly series: number;
}

/** `max` or `min`, counted from 1: the second highest has rank 2. */
export interface Extreme {
  readonly which: 'max' | 'min';
  readonly rank: number;
}

/** More or less than a number. */
interface Condition {
  readonly relation: Relation;
  readonly bound: number;
}

export type Relation = '>' | '<' | '=';

export type Program =
  | { readonly op: 'lookup'; readonly cell: CellPlace }
  | {
      readonly op: 'extreme';
      readonly extreme: Extreme;
      readonly of: Selection;
      readonly gives: 'label' | 'value';
    }
  | { readonly op: 'isExtreme'; readonly extreme: Extreme; readonly cell: CellPlace }
  | {
      readonly op: 'difference' | 'change' | 'ratio' | 'percentChange';
      readonly first: CellPlace | Extreme;
      readonly second: CellPlace | Extreme;
      readonly of: Selection;
    }
  | { readonly op: 'sum' | 'mean' | 'median'; readonly of: Selection; readonly top?: Top }
  | { readonly op: 'share'; readonly cell: CellPlace; readonly of: Selection }
  | { readonly op: 'count'; readonly what: 'rows' | 'series' | 'values' | 'points' }
  | { readonly op: 'countWhere'; readonly of: Selection; readonly condition: Condition }
  | {
      readonly op: 'compare';
      readonly first: CellPlace;
      readonly relation: Relation;
      readonly second: CellPlace | number;
    }
  | { readonly op: 'trend'; readonly series: number; readonly asks: 'trend' | 'rises' | 'falls' }
  | { readonly op: 'about'; readonly what: 'kind' | 'title' | 'xTitle' | 'yTitle' }
  | { readonly op: 'color'; readonly series: number };

/** The `count` highest or lowest values. */
interface Top {
  readonly which: 'max' | 'min';
  readonly count: number;
}
