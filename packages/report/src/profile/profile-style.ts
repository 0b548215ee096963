/** The part of the style sheet that only profiles have. */
export const profileStyle = `
:root {
  --part-1: #bcd6fb; --part-2: #b5e3e8; --part-3: #bfe6c8; --part-4: #e2c8ee; --part-5: #fad1ab;
  --part-6: #f3e19b; --part-7: #f6c9cd; --part-other: #d9dad6; --part-stage: #ececea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --part-1: #1f4a86; --part-2: #175660; --part-3: #1f5c34; --part-4: #5b3470; --part-5: #7a4413;
    --part-6: #665511; --part-7: #74323a; --part-other: #43464c; --part-stage: #2d3035;
  }
}
.graph { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 1rem; margin-bottom: 1rem; overflow-x: auto; }
.graph figcaption { padding-bottom: .5rem; color: var(--ink); }
.flame { display: block; width: 100%; min-width: 52rem; height: auto; }
.flame text { font: 11px system-ui, sans-serif; fill: var(--ink); pointer-events: none; }
.flame g:hover rect { stroke: var(--ink); stroke-width: 1.5; }
.span.stage rect { fill: var(--part-stage); }
.span.other rect { fill: var(--part-other); }
.span.idle rect { fill: none; stroke: var(--quiet); stroke-dasharray: 3 3; }
.span.part-1 rect { fill: var(--part-1); }
.span.part-2 rect { fill: var(--part-2); }
.span.part-3 rect { fill: var(--part-3); }
.span.part-4 rect { fill: var(--part-4); }
.span.part-5 rect { fill: var(--part-5); }
.span.part-6 rect { fill: var(--part-6); }
.span.part-7 rect { fill: var(--part-7); }
table.profile th, table.profile td { padding-top: .22rem; padding-bottom: .22rem; }
table.profile .group th, table.profile .group td { font-weight: 650; }
table.profile .inner th { padding-left: 1.4rem; font-weight: 400; }
table.profile .bars { width: 34%; padding-right: 0; }
table.profile .bars svg { display: block; width: 100%; height: .7rem; margin-top: .3rem; }
table.profile .inner .bars svg { opacity: .75; }
`;
