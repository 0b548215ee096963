/** Makes code show the value of its last expression, as notebooks do. */
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/python';

/**
 * The code with its last statement wrapped into a call, if it is an expression; unchanged if it is
 * something else, or if the code does not parse. Lines stay where they are.
 *
 * @param show name of the function that gets the value
 */
export function showingLastExpression(code: string, show: string): string {
  const tree = parser.parse(code);
  let last: SyntaxNode | null = tree.topNode.lastChild;
  while (last !== null && ['Comment', 'StatementGroup', ';'].includes(last.name)) {
    last = last.name === 'StatementGroup' ? last.lastChild : last.prevSibling;
  }
  if (last?.name !== 'ExpressionStatement' || hasError(tree.topNode)) return code;
  const { from, to } = last;
  return `${code.slice(0, from)}${show}((${code.slice(from, to)}))${code.slice(to)}`;
}

function hasError(node: SyntaxNode): boolean {
  let found = false;
  node.toTree().iterate({
    enter({ type }) {
      found ||= type.isError;
      return !found;
    },
  });
  return found;
}
