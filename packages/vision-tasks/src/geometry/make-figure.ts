/** Builds figures from a template's letters, and gives their points other names. */
import { type Figure, isAngle, measure, type Point } from './figure.ts';
import { quantitiesOf, type Relation, residual } from './relation.ts';

/** A figure as its file writes it; letters in braces in texts are names of points. */
export interface FigureTemplate {
  readonly kind: string;
  readonly points: Readonly<Record<string, Point>>;
  readonly lines: readonly string[];
  readonly circles?: Figure['circles'];
  readonly rightAngles?: readonly string[];
  readonly parallels?: readonly (readonly string[])[];
  readonly equals?: readonly (readonly string[])[];
  readonly relations: readonly Relation[];
  readonly facts?: readonly string[];
  readonly construction: readonly string[];
}

const tolerance = 1e-6;

/**
 * The figure of a template, with every theorem checked against the coordinates.
 *
 * @throws Error where a theorem does not hold for the coordinates
 */
export function makeFigure(template: FigureTemplate): Figure {
  const points = new Map(Object.entries(template.points));
  const { relations } = template;
  const measureOf = (quantity: string) => measure({ points }, quantity);
  for (const relation of relations) {
    if (residual(relation, measureOf) < tolerance) continue;
    throw new Error(`${template.kind}: ${relation.theorem} fails for ${quantitiesOf(relation)}.`);
  }
  return {
    kind: template.kind,
    points,
    lines: template.lines,
    circles: template.circles ?? [],
    rightAngles: template.rightAngles ?? [],
    parallels: template.parallels ?? [],
    equals: template.equals ?? [],
    quantities: [...new Set(relations.flatMap(quantitiesOf))],
    relations,
    facts: template.facts ?? [],
    construction: template.construction,
  };
}

/** The figure with its points renamed; a name that `names` lacks stays. */
export function renamePoints(figure: Figure, names: ReadonlyMap<string, string>): Figure {
  const renamed = (letters: string) => [...letters].map((name) => names.get(name) ?? name).join('');
  const inBraces = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name) => renamed(name));
  const groups = (all: readonly (readonly string[])[]) => all.map((group) => group.map(renamed));
  return {
    ...figure,
    points: new Map([...figure.points].map(([name, point]) => [renamed(name), point])),
    lines: figure.lines.map(renamed),
    rightAngles: figure.rightAngles.map(renamed),
    parallels: groups(figure.parallels),
    equals: groups(figure.equals),
    quantities: figure.quantities.map(renamed),
    relations: figure.relations.map((relation) => ({
      ...relation,
      terms: relation.terms.map(([quantity, factor]) => [renamed(quantity), factor] as const),
    })),
    facts: figure.facts.map(inBraces),
    construction: figure.construction.map(inBraces),
  };
}

/** The smallest angles and shortest parts at which a figure's labels still have room. */
const leastAngle = 20;
const leastShare = 0.13;

/** Whether every angle and part is large enough to be labeled. */
export function isRoomy(figure: Figure): boolean {
  const all = [...figure.points.values()];
  const spread = (axis: 0 | 1) => {
    const along = all.map((point) => point[axis]);
    return Math.max(...along) - Math.min(...along);
  };
  const [width, height] = [spread(0), spread(1)];
  const size = Math.max(width, height);
  if (Math.min(width, height) < 0.35 * size) return false;
  return figure.quantities.every((quantity) => {
    const value = measure(figure, quantity);
    return isAngle(quantity) ? value >= leastAngle : value >= leastShare * size;
  });
}
