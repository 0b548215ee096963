/** Names the GPU that the browser offers, in a line on the page. */
import { probeWebGpu } from '@saccade/backend-webgpu';
import { element } from './element.ts';
import type { Fault } from './messages.ts';

export interface AdapterReport {
  readonly description: string;
  readonly features: readonly string[];
  /** Whether a processor plays the GPU. */
  readonly isSoftware: boolean;
  /** Set where there is none. */
  readonly fault?: Fault;
}

/** Features that kernels use where they are. */
const USED_FEATURES = ['subgroups', 'shader-f16'] as const;

export async function probeAdapter(): Promise<AdapterReport> {
  const probe = await probeWebGpu({ powerPreference: 'high-performance' });
  if (!probe.available) {
    const fault = { code: 'missing', message: probe.message };
    return { description: '', features: [], isSoftware: false, fault };
  }
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
  const { architecture = '', isFallbackAdapter = false } = adapter?.info ?? {};
  // Browsers keep the model to themselves; the architecture they tell.
  const isTold = architecture === '' || probe.description.includes(architecture);
  const description = isTold ? probe.description : `${probe.description}, ${architecture}`;
  return { description, features: probe.features, isSoftware: isFallbackAdapter };
}

export function showAdapter(root: HTMLElement, report: AdapterReport): void {
  if (report.fault !== undefined) {
    root.replaceChildren('No GPU for this page.');
    return;
  }
  const { description, features, isSoftware } = report;
  const used = USED_FEATURES.map((name) => (features.includes(name) ? name : `no ${name}`));
  root.replaceChildren(
    element(
      'details',
      {},
      element(
        'summary',
        {},
        'GPU: ',
        element('strong', {}, description),
        ` · ${used.join(', ')}`,
        isSoftware && ' · a processor plays the GPU: slow',
      ),
      element('p', { class: 'quiet' }, `All features: ${features.join(', ') || 'none'}.`),
    ),
  );
}
