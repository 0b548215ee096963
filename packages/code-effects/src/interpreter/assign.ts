/** Binding names, unpacking sequences, storing in lists and dictionaries. */
import type { Expression } from '../syntax/ast.ts';
import { bind } from './names.ts';
import { indexPlain, itemsOf } from './operators.ts';
import { keyOf, list, numberOf, PythonError, type Scope, unknown, type Value } from './values.ts';

/** Binds names, unpacks sequences; what is stored inside of objects is followed for lists only. */
export function assign(
  target: Expression,
  value: Value,
  scope: Scope,
  evaluate: (expression: Expression) => Value,
): void {
  switch (target.kind) {
    case 'name':
      bind(target.name, value, scope);
      break;
    case 'list': {
      const items = itemsOf(value);
      const stars = target.items.findIndex(({ kind }) => kind === 'star');
      const count = target.items.length;
      if (items !== undefined && stars < 0 && items.length !== count) {
        const isShape = value.kind === 'sequence' && value.isShape && count === 2;
        if (!isShape) throw new PythonError('ValueError', 'wrong number of values to unpack');
      }
      target.items.forEach((item, index) => {
        if (item.kind === 'star') {
          const after = count - index - 1;
          const part = items?.slice(index, items.length - after);
          assign(item.operand, part === undefined ? unknown : list([...part]), scope, evaluate);
          return;
        }
        const at = stars >= 0 && index > stars ? index - count : index;
        assign(item, items?.at(at) ?? unknown, scope, evaluate);
      });
      break;
    }
    case 'subscript': {
      const object = evaluate(target.object);
      const indices = target.indices.map((part) => evaluate(part));
      const [only = unknown] = indices;
      if (object.kind === 'dictionary') {
        const key = keyOf(only);
        if (key !== undefined) object.entries.set(key, value);
      } else if (object.kind === 'sequence' && indices.length > 1) {
        const row = indexPlain(object, only);
        const at = numberOf(indices[1]);
        if (row.kind === 'sequence' && at !== undefined) storeAt(row.items, at, value);
      } else if (object.kind === 'sequence' && indices.length === 1) {
        const at = only.kind === 'number' ? only.value : undefined;
        if (at === undefined) object.items.fill(unknown);
        else storeAt(object.items, at, value);
      }
      break;
    }
    case 'attribute': {
      const object = evaluate(target.object);
      if (object.kind === 'object') object.fields.set(target.name, value);
      break;
    }
    default:
      break;
  }
}

/** @throws PythonError for a place that the list does not have */
function storeAt(items: Value[], at: number, value: Value): void {
  const place = at < 0 ? at + items.length : at;
  if (!Number.isInteger(place) || place < 0 || place >= items.length) {
    throw new PythonError(Number.isInteger(place) ? 'IndexError' : 'TypeError');
  }
  items[place] = value;
}
