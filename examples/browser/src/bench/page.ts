/** The page of the benchmarks: measures case after case and fills the table. */
import { webgpuBackend } from '@saccade/backend-webgpu';
import { messageOf, SaccadeError } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';
import { probeAdapter, showAdapter } from '../page/adapter.ts';
import { element, find } from '../page/element.ts';
import { describeFault } from '../page/faults.ts';
import type { Fault } from '../page/messages.ts';
import { formatNumber } from '../page/numbers.ts';
import { type BenchCase, benchCases, shapesOf } from './cases.ts';
import { type Measurement, measureCase } from './measure.ts';

const sizeField = find('size', HTMLSelectElement);
const startButton = find('start', HTMLButtonElement);
const status = find('status', HTMLElement);
const rows = find('rows', HTMLElement);
const faultBox = find('fault', HTMLElement);

async function measureAll(): Promise<void> {
  const cases = benchCases[sizeField.value === 'small' ? 'small' : 'large'];
  rows.replaceChildren();
  faultBox.hidden = true;
  startButton.disabled = true;
  let device: Device | undefined;
  try {
    device = openDevice(await webgpuBackend({ powerPreference: 'high-performance' }));
    for (const [index, benchCase] of cases.entries()) {
      status.textContent = `Measuring ${benchCase.title}, ${index + 1} of ${cases.length} …`;
      // Lets the page show it before the data is drawn.
      await new Promise((resolve) => setTimeout(resolve));
      for await (const one of measureCase(device, benchCase)) rows.append(drawRow(benchCase, one));
    }
    status.textContent = 'Done.';
  } catch (error) {
    const code = error instanceof SaccadeError ? error.code : 'unknown';
    showFault({ code, message: messageOf(error) });
    status.textContent = 'Stopped.';
  } finally {
    device?.dispose();
    startButton.disabled = false;
  }
}

function drawRow(benchCase: BenchCase, one: Measurement): HTMLElement {
  const { direction, median, lowerQuartile, upperQuartile, cost } = one;
  const milliseconds = (seconds: number): string => formatNumber(seconds * 1000);
  const number = (text: string): HTMLElement => element('td', { class: 'n' }, text);
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, `${benchCase.title}, ${direction}`),
    element('td', {}, shapesOf(benchCase)),
    number(`${milliseconds(median)} ms`),
    number(`${milliseconds(lowerQuartile)}–${milliseconds(upperQuartile)} ms`),
    number(formatNumber(cost.flops / median / 1e9)),
    number(formatNumber(cost.bytes / median / 1e9)),
  );
}

function showFault(fault: Fault): void {
  faultBox.replaceChildren(...describeFault(fault));
  faultBox.hidden = false;
}

find('controls', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void measureAll();
});

startButton.disabled = true;
void probeAdapter().then((adapter) => {
  showAdapter(find('adapter', HTMLElement), adapter);
  if (adapter.fault !== undefined) {
    showFault(adapter.fault);
    return;
  }
  sizeField.value = adapter.isSoftware ? 'small' : 'large';
  startButton.disabled = false;
});
