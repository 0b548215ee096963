/** A backend whose launches are spans of a trace. */
import { span, spanElsewhere } from '@saccade/core';
import type { Backend, Direction, Launch } from './backend.ts';

/**
 * Wraps `inner`, and belongs to whoever owns it. Where launches block, each is a span of its op:
 * `kernels/gemm`, `kernels/gemm backward`. Where they are queued, what they take is not known by op:
 * `kernels/queued` is the time in which JavaScript had nothing to do but wait for them.
 */
export function tracedBackend(inner: Backend): Backend {
  const names: Record<Direction, Map<string, string>> = { forward: new Map(), backward: new Map() };
  const nameOf = ({ op: { id }, direction }: Launch): string => {
    if (inner.isBlocking !== true) return 'launches/queue';
    let name = names[direction].get(id);
    if (name === undefined) {
      name = `kernels/${id}${direction === 'backward' ? ' backward' : ''}`;
      names[direction].set(id, name);
    }
    return name;
  };
  return {
    name: inner.name,
    description: inner.description,
    isBlocking: inner.isBlocking === true,
    alloc: (sizeBytes) => inner.alloc(sizeBytes),
    free: (buffer) => inner.free(buffer),
    write: (view, data) => span('launches/write', () => inner.write(view, data)),
    read: (view) => spanElsewhere('kernels/queued', () => inner.read(view)),
    supports: (op, direction, dtypes, dims) => inner.supports(op, direction, dtypes, dims),
    dispatch: (launch) => span(nameOf(launch), () => inner.dispatch(launch)),
    synchronize: () => spanElsewhere('kernels/queued', () => inner.synchronize()),
    allocatedBytes: () => inner.allocatedBytes(),
    ...(inner.memoryUse && { memoryUse: inner.memoryUse.bind(inner) }),
    ...(inner.workspaceBytes && { workspaceBytes: inner.workspaceBytes.bind(inner) }),
    dispose: () => inner.dispose(),
  };
}
