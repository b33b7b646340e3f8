// imports.d.ts - what the pages take from the rest of the program: the look and the charts of the simulator’s report, the scripts of notebooks, tables of fields. SPDX-License-Identifier: Apache-2.0
declare module '*.sh?raw' { const text: string; export default text; }
declare module '*/report.css?raw' { const text: string; export default text; }
declare module '*/sim/report.js' { export function chart(figure: Element): void; }
declare module '*_fields.def' { const rows: unknown; export default rows; }
