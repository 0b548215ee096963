/** Reads FormalGeo's language, and Inter-GPS's logic forms, into statements and goals. */
import { CdlError } from './errors.ts';
import { expressionOf } from './expressions.ts';
import { logicForm } from './logic-forms.ts';
import { pointsIn } from './points.ts';
import {
  equality,
  type Goal,
  type Point,
  type Relation,
  type RelationName,
  relations,
  type Statement,
} from './statement.ts';
import { readTerm, type Term } from './term.ts';

const maxStatements = 400;

export interface ReadCdl {
  readonly statements: readonly Statement[];
  readonly goals: readonly Goal[];
}

/**
 * Reads statements, one a line or separated by semicolons; blank lines and lines that begin with # say
 * nothing.
 *
 * @throws CdlError naming the statement that is none
 */
export function readCdl(text: string | readonly string[]): ReadCdl {
  const lines = (typeof text === 'string' ? text.split(/[\n;]/) : text)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines.length > maxStatements) {
    throw new CdlError(`There are ${lines.length} statements, more than ${maxStatements}.`);
  }
  const statements: Statement[] = [];
  const goals: Goal[] = [];
  for (const line of lines) {
    const read = readLine(line);
    if (isGoal(read)) goals.push(read);
    else statements.push(...read);
  }
  return { statements, goals };
}

function isGoal(read: readonly Statement[] | Goal): read is Goal {
  return 'kind' in read;
}

function readLine(line: string): readonly Statement[] | Goal {
  const term = readTerm(line);
  if (term.kind !== 'call') throw new CdlError(`"${line}" says nothing. Write a predicate.`);
  const [first, ...rest] = term.of;
  if (['Value', 'Find'].includes(term.name) && first !== undefined && rest.length === 0) {
    return goalOf(first);
  }
  if (['Relation', 'Prove'].includes(term.name) && first !== undefined && rest.length === 0) {
    const [statement, ...more] = statementsOf(first, line);
    if (statement === undefined || more.length > 0) throw new CdlError(`"${line}" asks too much.`);
    return { kind: 'proof', of: statement };
  }
  return statementsOf(term, line);
}

function goalOf(asked: Term): Goal {
  if (asked.kind === 'call' && (asked.name === 'Equal' || asked.name === 'Equals')) {
    const [statement] = statementsOf(asked, 'the goal');
    if (statement !== undefined) return { kind: 'proof', of: statement };
  }
  return { kind: 'value', of: expressionOf(asked) };
}

function statementsOf(term: Term, line: string): readonly Statement[] {
  if (term.kind === 'call') {
    if (term.name === 'Equal' || term.name === 'Equals') {
      const [left, right, ...more] = term.of;
      if (left === undefined || right === undefined || more.length > 0) {
        throw new CdlError(`"${line}" must say what two measures are equal.`);
      }
      return [equality(expressionOf(left), expressionOf(right))];
    }
    if (Object.hasOwn(relations, term.name)) return [relationOf(term.name as RelationName, term)];
    const translated = logicForm(term);
    if (translated !== undefined) return translated;
  }
  const known = Object.keys(relations).join(', ');
  throw new CdlError(`"${line}" has an unknown predicate. Known: Equal, Value, ${known}.`);
}

function relationOf(name: RelationName, term: Term): Relation {
  const groups = groupsOf(name, term);
  checkGroups(name, groups);
  return { kind: 'relation', name, groups };
}

/** The groups of points, whether written `IsMidpointOfLine(M,AB)` or with every point on its own. */
function groupsOf(name: RelationName, term: Term): readonly (readonly Point[])[] {
  const groups = term.kind === 'call' ? term.of.map(pointsIn) : [];
  const signature: readonly (number | string)[] = relations[name];
  const isOneGroup = signature.length === 1 && groups.length > 1;
  if (isOneGroup && groups.every(({ length }) => length === 1)) return [groups.flat()];
  return groups;
}

function checkGroups(name: RelationName, groups: readonly (readonly Point[])[]): void {
  const signature: readonly (number | string)[] = relations[name];
  const repeats = signature.at(-1) === '…';
  const sizes = repeats ? groups.map(() => signature[0]) : signature;
  const fits =
    groups.length >= (repeats ? 2 : signature.length) &&
    groups.length === sizes.length &&
    groups.every((group, index) => fitsSize(group, sizes[index], name));
  if (fits) return;
  const written = groups.map((group) => group.join('')).join(',');
  throw new CdlError(
    `${name}(${written}) does not fit. Expected the groups ${signature.join(', ')} of points.`,
  );
}

function fitsSize(
  group: readonly Point[],
  size: number | string | undefined,
  name: RelationName,
): boolean {
  if (name !== 'IsCentreOfCircle' && new Set(group).size < group.length) return false;
  if (size === 'any') return group.length >= 1;
  if (size === '+') return group.length >= 3;
  // An arc may be an edge of a shape.
  return group.length === size || (name === 'Shape' && group.length === 3);
}
