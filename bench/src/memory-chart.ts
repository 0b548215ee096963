/** Memory over the steps of a run, as one SVG file and as sentences. */
import { drawLinearChart } from './linear-chart.ts';
import { PANEL, xmlText } from './log-chart.ts';
import { type MemoryRun, READINGS, type Reading } from './memory-steps.ts';
import { formatBytes, threeDigits } from './units.ts';

/** Told apart on white, also by most who are color-blind. */
const COLORS = ['#1f5fbf', '#c4600c'] as const;
const [MARGIN, GAP, HEADING] = [16, 24, 44] as const;
const COLUMNS = 2;

const PANELS: readonly { readonly title: string; readonly readings: readonly Reading[] }[] = [
  { title: 'Buffers', readings: ['heldBuffers', 'liveBuffers'] },
  { title: 'Bytes of buffers', readings: ['heldBytes', 'liveBytes'] },
  { title: 'The process', readings: ['residentBytes'] },
  { title: 'JavaScript', readings: ['heapBytes', 'externalBytes'] },
];

/** One line a reading: between what it lies, its slope with the spread, and what that makes it. */
export function describeMemory({ drift, steps }: MemoryRun): readonly string[] {
  return (Object.keys(READINGS) as Reading[]).map((reading) => {
    const { title, unit } = READINGS[reading];
    const { least, most, perStep, p20, p80, verdict, warmUp } = drift[reading];
    const show = unit === 'bytes' ? formatBytes : (value: number) => `${value}`;
    if (Number.isNaN(least)) return `${title}: not counted by this backend`;
    const from = `from step ${warmUp + 1} on`;
    if (verdict === 'constant') return `${title}: ${show(least)} at every step ${from}: constant`;
    const slope = (value: number): string => `${value > 0 ? '+' : ''}${signed(value * 1000)}`;
    return (
      `${title}: ${show(least)} to ${show(most)} ${from}; ${slope(perStep)} ` +
      `(${slope(p20)} to ${slope(p80)}) ${unit} per 1,000 of ` +
      `${steps} steps: ${verdict}`
    );
  });
}

const signed = (value: number): string =>
  Math.abs(value) < 1000 ? threeDigits(value) : Math.round(value).toLocaleString('en');

/** @param about  machine and date, for under the heading */
export function drawMemory(run: MemoryRun, about: string): string {
  const rows = Math.ceil(PANELS.length / COLUMNS);
  const width = 2 * MARGIN + COLUMNS * PANEL.width + (COLUMNS - 1) * GAP;
  const height = 2 * MARGIN + HEADING + rows * PANEL.height + (rows - 1) * GAP;
  const heading = `Memory after each of ${run.steps.toLocaleString('en')} steps of training`;
  const panels = PANELS.map(({ title, readings }, i) =>
    drawLinearChart(
      {
        title,
        xLabel: 'step',
        formatY: title === 'Buffers' ? (y) => y.toLocaleString('en') : formatBytes,
        lines: readings.map((reading, r) => ({
          label: `${READINGS[reading].title}: ${run.drift[reading].verdict}`,
          color: COLORS[r % COLORS.length] as string,
          values: run.series[reading],
        })),
      },
      {
        x: MARGIN + (i % COLUMNS) * (PANEL.width + GAP),
        y: MARGIN + HEADING + Math.floor(i / COLUMNS) * (PANEL.height + GAP),
      },
    ),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${xmlText(heading)}">
<style>text{font:12px system-ui,"Segoe UI",Roboto,sans-serif;fill:#4a4d52}.heading{font-size:17px;font-weight:600;fill:#1c1d1f}.title{font-size:14px;font-weight:600;fill:#1c1d1f}.label{fill:#1c1d1f}.grid{stroke:#e4e5e1}</style>
<rect width="${width}" height="${height}" fill="#fff"/>
<text class="heading" x="${MARGIN}" y="${MARGIN + 12}">${xmlText(heading)}</text>
<text x="${MARGIN}" y="${MARGIN + 31}">${xmlText(`${run.backend}; ${about}`)}</text>
${panels.join('\n')}
</svg>
`;
}
