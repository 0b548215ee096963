/**
 * On which side of a line a point lies, as far as the construction says: for three points, whether they
 * turn left or right. Unknown turns that must be equal or opposite are kept in classes.
 */
import type { Point } from '../cdl/statement.ts';

export type Turn = -1 | 1;

interface Node {
  parent: Node;
  /** Relative to the parent. */
  turn: Turn;
}

function root(node: Node): { readonly node: Node; readonly turn: Turn } {
  let turn: Turn = 1;
  let at = node;
  while (at.parent !== at) {
    turn = (turn * at.turn) as Turn;
    at = at.parent;
  }
  // Path compression keeps chains short.
  if (node !== at) {
    node.parent = at;
    node.turn = turn;
  }
  return { node: at, turn };
}

export class Orientation {
  private readonly nodes = new Map<string, Node>();
  private readonly keys = new Map<Node, string>();
  /** Stands for a left turn in the image. */
  private readonly left: Node = newNode();

  /** Whether any three points are known to turn left or right, not only like or unlike others. */
  hasLeft = false;

  /** The three points turn left: they are in counterclockwise order. */
  setLeft(a: Point, b: Point, c: Point): boolean {
    const { node, turn } = this.nodeOf(a, b, c);
    this.hasLeft = true;
    return union(node, this.left, turn);
  }

  /**
   * Both triples turn the same way.
   *
   * @returns false if they are known to turn opposite ways; nothing is changed then
   */
  setSame(first: readonly [Point, Point, Point], second: readonly [Point, Point, Point]): boolean {
    const [a, b] = [this.nodeOf(...first), this.nodeOf(...second)];
    return union(a.node, b.node, (a.turn * b.turn) as Turn);
  }

  /** 1 if both triples turn the same way, -1 if opposite ways, 0 if that is unknown. */
  compare(first: readonly [Point, Point, Point], second: readonly [Point, Point, Point]): Turn | 0 {
    const [a, b] = [this.nodeOf(...first), this.nodeOf(...second)];
    const [rootA, rootB] = [root(a.node), root(b.node)];
    if (rootA.node !== rootB.node) return 0;
    return (a.turn * rootA.turn * b.turn * rootB.turn) as Turn;
  }

  /** 1 for a left turn, -1 for a right one, 0 if unknown. */
  turn(a: Point, b: Point, c: Point): Turn | 0 {
    const { node, turn } = this.nodeOf(a, b, c);
    const [own, left] = [root(node), root(this.left)];
    if (own.node !== left.node) return 0;
    return (turn * own.turn * left.turn) as Turn;
  }

  /** The class of turns that a triple belongs to, and whether it is like or unlike its representative. */
  classOf(a: Point, b: Point, c: Point): { readonly key: string; readonly turn: Turn } {
    const { node, turn } = this.nodeOf(a, b, c);
    const top = root(node);
    const key = this.keys.get(top.node) ?? `${this.keys.size}`;
    this.keys.set(top.node, key);
    return { key, turn: (turn * top.turn) as Turn };
  }

  /** 1 if `c` and `d` lie on the same side of the line through `a` and `b`, -1 if not, 0 if unknown. */
  side(a: Point, b: Point, c: Point, d: Point): Turn | 0 {
    return c === d ? 1 : this.compare([a, b, c], [a, b, d]);
  }

  /** Whether the ray from `vertex` to `inner` lies within the angle between the two others. */
  isInside(vertex: Point, inner: Point, a: Point, b: Point): boolean {
    const whole = [vertex, a, b] as const;
    return (
      this.compare([vertex, a, inner], whole) === 1 && this.compare([vertex, inner, b], whole) === 1
    );
  }

  /** Whether the corners, in this order, are known to make a convex polygon. */
  isConvex(corners: readonly Point[]): boolean {
    const [first, second, third] = corners;
    if (first === undefined || second === undefined || third === undefined) return false;
    const whole = [first, second, third] as const;
    return triples(corners).every((triple) => this.compare(triple, whole) === 1);
  }

  private nodeOf(a: Point, b: Point, c: Point): { readonly node: Node; readonly turn: Turn } {
    const key = [a, b, c].sort().join(' ');
    let node = this.nodes.get(key);
    if (node === undefined) {
      node = newNode();
      this.nodes.set(key, node);
    }
    return { node, turn: parity(a, b, c) };
  }
}

function newNode(): Node {
  const node: Partial<Node> = { turn: 1 };
  node.parent = node as Node;
  return node as Node;
}

function union(a: Node, b: Node, turn: Turn): boolean {
  const [rootA, rootB] = [root(a), root(b)];
  const between = (turn * rootA.turn * rootB.turn) as Turn;
  if (rootA.node === rootB.node) return between === 1;
  rootA.node.parent = rootB.node;
  rootA.node.turn = between;
  return true;
}

/** 1 if the points are an even permutation of their alphabetical order. */
function parity(a: Point, b: Point, c: Point): Turn {
  const swaps = Number(a > b) + Number(a > c) + Number(b > c);
  return swaps % 2 === 0 ? 1 : -1;
}

/** All triples of corners, each in the order of the polygon. */
export function triples(corners: readonly Point[]): readonly (readonly [Point, Point, Point])[] {
  const all: (readonly [Point, Point, Point])[] = [];
  for (const [i, a] of corners.entries()) {
    for (const [j, b] of corners.entries()) {
      if (j <= i) continue;
      for (const c of corners.slice(j + 1)) all.push([a, b, c]);
    }
  }
  return all;
}
