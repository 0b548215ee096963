import { describe, expect, it } from 'vitest';
import { type Chart, drawChart } from './charts.ts';
import { escapeHtml, html } from './html.ts';
import { originBox, parseBox } from './images.ts';
import { formatNumber, roundTicks, smooth, wilsonInterval } from './numbers.ts';

function chartOf(ys: readonly number[]): Chart {
  const points = ys.map((y, index) => ({ x: index + 1, y }));
  return {
    title: 'Reward',
    about: '',
    xLabel: 'step',
    series: [{ label: 'reward', kind: 'line', color: 1, points }],
  };
}

describe('drawChart', () => {
  it('draws a single point as a dot', () => {
    const { text } = drawChart(chartOf([0.5]));
    expect(text).toMatch(/<circle class="dot-1" cx="[\d.]+" cy="[\d.]+"/);
    expect(text).not.toContain('NaN');
  });

  it('leaves out values that are not finite', () => {
    const { text } = drawChart(chartOf([1, Number.NaN, 2, Number.POSITIVE_INFINITY, 3]));
    expect(text).not.toMatch(/NaN|Infinity/);
    expect(text.match(/class="line stroke-1" d="M[^M"]*"/)?.[0].match(/L/g)).toHaveLength(2);
  });

  it('says so if there is nothing to draw', () => {
    expect(drawChart(chartOf([Number.NaN])).text).toContain('No values were recorded');
  });

  it('draws a constant without dividing by its range', () => {
    expect(drawChart(chartOf([0, 0, 0])).text).not.toMatch(/NaN|Infinity/);
  });
});

describe('html', () => {
  it('escapes parts, keeps what is markup already, and drops what is absent', () => {
    const bold = html`<b title="${'"&\''}">${'<i>'}</b>`;
    expect(html`${bold}${undefined}${false}${[1, bold]}`.text).toBe(`${bold.text}1${bold.text}`);
    expect(bold.text).toBe('<b title="&quot;&amp;&#39;">&lt;i&gt;</b>');
    expect(escapeHtml('a < b && c > d')).toBe('a &lt; b &amp;&amp; c &gt; d');
  });
});

describe('wilsonInterval', () => {
  // Newcombe 1998, Statistics in Medicine 17:857, table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('gives the published interval of %i in %i', (right, count, low, high) => {
    const interval = wilsonInterval(right / count, count);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });
});

describe('numbers', () => {
  it('covers a range with round ticks', () => {
    expect(roundTicks(0, 0.93, 4)).toEqual([0, 0.5, 1]);
    expect(roundTicks(3, 61, 5)).toEqual([0, 20, 40, 60, 80]);
    expect(roundTicks(-0.2, 0.1, 3)).toEqual([-0.2, -0.1, 0, 0.1]);
    expect(roundTicks(7, 7, 2)).toEqual([0, 5, 10, 15]);
  });

  it('smooths without shifting a straight line, and passes over gaps', () => {
    expect(smooth([1, 2, 3, 4, 5], 2)).toEqual([1, 2, 3, 4, 5]);
    expect(smooth([0, 6, Number.NaN, 0, 0], 1)).toEqual([0, 3, Number.NaN, 0, 0]);
    expect(smooth([0, 9, 0, 0], 1)).toEqual([0, 3, 3, 0]);
  });

  it('writes numbers short', () => {
    expect([0.000123, 1e-3, 12, -0.5, 1234567, Number.NaN].map(formatNumber)).toEqual([
      '1.23e-4',
      '0.001',
      '12',
      '−0.5',
      '1.23e6',
      '–',
    ]);
  });
});

describe('boxes', () => {
  const image = {
    name: 'crop',
    png: new Uint8Array(0),
    width: 100,
    height: 50,
    modelWidth: 100,
    modelHeight: 50,
    tokenCount: 1,
  };

  it('maps the corners of an image into its original', () => {
    expect(originBox(image, [0.5, 0, 10, 0, 2, 20])).toEqual([10, 20, 60, 120]);
    expect(originBox(image, [-1, 0, 100, 0, 1, 0])).toEqual([0, 0, 100, 50]);
  });

  it('reads a box from a tag', () => {
    expect(parseBox('[28, 140, 84, 196]')).toEqual([28, 140, 84, 196]);
    expect(parseBox('28,140,84')).toBeUndefined();
    expect(parseBox(undefined)).toBeUndefined();
  });
});
