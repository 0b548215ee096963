/** Elements made in code: text can never become markup, whatever a model writes. */

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;
/** Content of an element; `undefined` and `false` are nothing. */
export type Child = Node | string | false | undefined;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  return filled(document.createElement(name), attributes, children);
}

export function svgElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  return filled(made, attributes, children);
}

function filled<Made extends Element>(
  made: Made,
  attributes: Attributes,
  children: readonly Child[],
): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== undefined && child !== false) made.append(child);
  return made;
}

/** The element of a page by its id. @throws Error if the page lacks it */
export function find<Made extends HTMLElement>(id: string, kind: new () => Made): Made {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`The page has no ${kind.name} with the id "${id}".`);
}
