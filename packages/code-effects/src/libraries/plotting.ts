/** matplotlib: what is put on axes is shown when the figure is. */
import type { Call, Library } from '../interpreter/runtime.ts';
import { list, none, numberOf, object, tuple, unknown, type Value } from '../interpreter/values.ts';
import type { OperationKind } from '../operation-kind.ts';
import { openFile } from './pillow-parts.ts';

/** Marks over an image that is on the axes. */
const drawings: Readonly<Record<string, OperationKind>> = {
  add_patch: 'render_marks',
  scatter: 'render_marks',
  plot: 'render_lines',
  axhline: 'render_lines',
  axvline: 'render_lines',
  hlines: 'render_lines',
  vlines: 'render_lines',
  arrow: 'render_lines',
  text: 'render_text',
  annotate: 'render_text',
};

export const plotting: Library = {
  modules: ['matplotlib', 'pylab'],
  call(path, call) {
    const name = path.split('.').at(-1) ?? '';
    return callAxes(name, call, `plt.${name}`);
  },
  callMethod(self, name, call) {
    const isAxes = self.kind === 'object' && /^(axes|figure)$/.test(self.type);
    // A value that could not be followed may be axes; nothing else has methods of these names.
    const isLikely = self.kind === 'unknown' && /^(imshow|add_patch)$/.test(name);
    return isAxes || isLikely
      ? callAxes(name, call, `${isAxes ? self.type : 'axes'}.${name}`)
      : undefined;
  },
};

function callAxes(name: string, call: Call, callName: string): Value {
  const { session, args, line } = call;
  const site = { call: callName, line };
  const [first] = args.positional;
  switch (name) {
    case 'imshow':
    case 'matshow':
      if (first?.kind === 'image') session.plotted.push(first);
      return unknown;
    case 'show':
      for (const image of session.plotted) {
        session.record({ ...site, kind: 'show', input: image });
        session.show(image);
      }
      session.plotted = [];
      return none;
    case 'close':
    case 'clf':
    case 'cla':
      session.plotted = [];
      return none;
    case 'savefig': {
      const [image] = session.plotted;
      if (image !== undefined) session.record({ ...site, kind: 'save', input: image });
      return none;
    }
    case 'imsave': {
      const image = args.get(1, 'arr');
      if (image?.kind !== 'image') return none;
      session.record({ ...site, kind: 'save', input: image });
      if (first?.kind === 'text') session.files.set(first.value, session.alias(image));
      return none;
    }
    case 'imread':
      return openFile(first, 'array', call, callName);
    case 'subplots': {
      const rows = numberOf(args.get(0, 'nrows')) ?? (args.get(0, 'nrows') ? undefined : 1);
      const columns = numberOf(args.get(1, 'ncols')) ?? (args.get(1, 'ncols') ? undefined : 1);
      return tuple([object('figure'), grid(rows, columns)]);
    }
    case 'figure':
    case 'gcf':
      return object('figure');
    case 'gca':
    case 'subplot':
    case 'axes':
    case 'add_subplot':
    case 'add_axes':
      return object('axes');
    case 'hist':
    case 'hist2d':
      if (first?.kind === 'image') session.record({ ...site, kind: 'histogram', input: first });
      return unknown;
    default: {
      const kind = drawings[name];
      const image = session.plotted.at(-1);
      if (kind !== undefined && image !== undefined) {
        session.record({ ...site, kind, input: image });
      }
      return unknown;
    }
  }
}

function grid(rows: number | undefined, columns: number | undefined): Value {
  if (rows === undefined || columns === undefined || rows * columns > 256) return unknown;
  const axes = (count: number): Value => list(Array.from({ length: count }, () => object('axes')));
  if (rows === 1 && columns === 1) return object('axes');
  if (rows === 1 || columns === 1) return axes(rows * columns);
  return list(Array.from({ length: rows }, () => axes(columns)));
}
