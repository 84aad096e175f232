/** Light and dark by the reader's setting; one column that also works on narrow screens. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --line: #e1e4e8; --text: #1c2128; --dim: #656d76; --code: #f3f4f6;
  --pass: #1a7f4b; --fail: #cf2f3c; --infra: #b07400; --invalid: #7d4fd3; --notrun: #afb8c1; --accent: #2f6feb;
  --pass-soft: #e3f5ea; --fail-soft: #fdebec; --infra-soft: #fff4d9; --invalid-soft: #f1eafd;
  --shadow: 0 1px 2px rgb(27 31 36 / 6%), 0 2px 8px rgb(27 31 36 / 4%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1318; --card: #171c23; --line: #2a313a; --text: #e4e8ed; --dim: #919ba7; --code: #10151b;
    --pass: #46c37b; --fail: #f4717b; --infra: #e0a83c; --invalid: #b394f4; --notrun: #57606a; --accent: #6ca0ff;
    --pass-soft: #12291d; --fail-soft: #331a1e; --infra-soft: #2e2511; --invalid-soft: #241c38;
    --shadow: none;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 20px 80px; }
h1 { font-size: 26px; line-height: 1.25; margin: 10px 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 17px; margin: 36px 0 12px; }
h4 { font-size: 14px; margin: 18px 0 8px; }
h4 .dim { font-weight: 400; }
h5 { font-size: 13px; margin: 12px 0 4px; }
p { margin: 0; }
ul, ol { margin: 0; padding: 0; list-style: none; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12.5px; }
code { background: var(--code); border-radius: 4px; padding: 1px 5px; }
a { color: var(--accent); }
button, input { font: inherit; color: inherit; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.dim, .meta, .note, .label { color: var(--dim); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
[hidden] { display: none !important; }

.badge { display: inline-block; text-transform: uppercase; letter-spacing: 0.08em; font-weight: 700; font-size: 12px; padding: 4px 12px; border-radius: 99px; color: var(--tone); background: var(--tone-soft); }
.top { --tone: var(--infra); --tone-soft: var(--infra-soft); }
.top.pass { --tone: var(--pass); --tone-soft: var(--pass-soft); }
.top.fail { --tone: var(--fail); --tone-soft: var(--fail-soft); }
.top.invalid, .top.inconclusive { --tone: var(--invalid); --tone-soft: var(--invalid-soft); }
.sentence { font-size: 17px; }
.meta { font-size: 13px; margin-top: 6px; }

.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(160px, 1fr)); gap: 12px; margin: 24px 0 16px; }
.figure { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 14px 16px; box-shadow: var(--shadow); }
.label { font-size: 12.5px; }
.value { font-size: 24px; font-weight: 650; letter-spacing: -0.01em; line-height: 1.3; font-variant-numeric: tabular-nums; }
.note { font-size: 12.5px; }
.figure .interval { margin-top: 8px; width: 100%; }

.verdict-bar { display: block; width: 100%; height: 12px; border-radius: 6px; overflow: hidden; background: var(--line); }
rect.pass { fill: var(--pass); } rect.fail { fill: var(--fail); } rect.infra { fill: var(--infra); } rect.invalid { fill: var(--invalid); } rect.notrun { fill: var(--notrun); }
.verdicts ul { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 10px; font-size: 13.5px; }
.dot { display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 6px; }
.dot.pass { background: var(--pass); } .dot.fail { background: var(--fail); } .dot.infra { background: var(--infra); } .dot.invalid { background: var(--invalid); } .dot.notrun { background: var(--notrun); }

.regressions li { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--infra); border-radius: 8px; padding: 8px 12px; margin-bottom: 8px; font-size: 14px; }
.regressions li.alert { border-left-color: var(--fail); }
.next { margin-top: 18px; font-size: 14px; }
.next li { padding-left: 18px; position: relative; }
.next li::before { content: "→"; position: absolute; left: 0; color: var(--dim); }

.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow); }
.cases .scroll { max-height: 31.2rem; overflow-y: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 9px 14px; border-top: 1px solid var(--line); vertical-align: middle; overflow-wrap: normal; }
thead th { border-top: 0; font-size: 12.5px; font-weight: 600; color: var(--dim); white-space: nowrap; position: sticky; top: 0; z-index: 1; background: var(--card); cursor: pointer; box-shadow: inset 0 -1px var(--line); }
thead th[aria-sort=ascending]::after { content: " ↑"; } thead th[aria-sort=descending]::after { content: " ↓"; }
tbody th { font-weight: 500; min-width: 150px; overflow-wrap: anywhere; border-left: 3px solid var(--pass); }
tr.fail th { border-left-color: var(--fail); } tr.infra th { border-left-color: var(--infra); } tr.invalid th { border-left-color: var(--invalid); }
thead tr th:first-child { padding-left: 17px; }
.use tbody th, .own tbody th { border-left-color: transparent; } .own > .dim { margin-bottom: 10px; } .own td { vertical-align: baseline; } .own tbody th { vertical-align: baseline; overflow-wrap: break-word; } .use thead .number::first-letter { text-transform: uppercase; } .use > .dim { font-size: 12.5px; margin-top: 6px; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
button.case { border: 0; background: none; padding: 0; text-align: left; cursor: pointer; font-weight: 600; }
button.case:hover { color: var(--accent); text-decoration: underline; }
.agent { color: var(--dim); font-size: 13px; min-width: 150px; }
.rate { min-width: 190px; font-variant-numeric: tabular-nums; white-space: nowrap; }
.rate .interval { width: 100px; margin-right: 10px; vertical-align: middle; }
.rate span { color: var(--dim); font-size: 13px; } .rate b { color: var(--text); }
.interval { height: 10px; display: inline-block; }
.figure .interval { display: block; }
.interval line { stroke-width: 3; stroke-linecap: round; }
.interval .track { stroke: var(--line); } .interval .range { stroke: var(--accent); opacity: 0.45; } .interval .point { fill: var(--accent); }

.chip { display: inline-block; font-size: 12px; line-height: 1; padding: 4px 8px; border-radius: 99px; background: var(--code); color: var(--dim); white-space: nowrap; font-variant-numeric: tabular-nums; }
.chip.flaky { background: var(--infra-soft); color: var(--infra); font-weight: 600; }
.chip.good { background: var(--pass-soft); color: var(--pass); } .chip.bad { background: var(--fail-soft); color: var(--fail); font-weight: 600; }

.filters { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 8px; align-items: center; background: var(--page); padding: 10px 0; }
.filters [role=group] { display: flex; flex-wrap: wrap; gap: 6px; }
.filters button { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 5px 12px; cursor: pointer; font-size: 13.5px; }
.filters button:hover { border-color: var(--dim); }
.filters button[aria-pressed=true] { background: var(--text); color: var(--page); border-color: var(--text); }
.filters button span { opacity: 0.65; }
.filters label { flex: 1 1 180px; } .filters label:has(select) { flex: none; } .filters label:has(select[hidden]) { display: none; }
.filters select { background: var(--card); color: inherit; border: 1px solid var(--line); border-radius: 8px; padding: 5px 8px; font-size: 13.5px; max-width: 220px; }
.filters input { width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 5px 12px; font-size: 13.5px; }
#status { color: var(--dim); font-size: 13px; }
.trials > .dim { font-size: 13px; margin-bottom: 8px; }

.trial { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin-bottom: 8px; content-visibility: auto; contain-intrinsic-size: auto 46px; scroll-margin-top: 70px; }
.trial > summary { display: flex; align-items: center; gap: 10px; padding: 10px 14px; cursor: pointer; list-style: none; border-radius: 10px; }
.trial > summary::-webkit-details-marker { display: none; }
.trial > summary:hover { background: color-mix(in srgb, var(--code) 70%, transparent); }
.name { flex: 1; min-width: 0; } .chips { display: flex; flex-wrap: wrap; gap: 5px; justify-content: flex-end; }
.attempt { color: var(--dim); }
.mark { flex: none; display: inline-grid; place-items: center; width: 22px; height: 22px; border-radius: 50%; font-weight: 700; font-size: 13px; color: var(--pass); background: var(--pass-soft); }
.mark.fail { color: var(--fail); background: var(--fail-soft); } .mark.infra { color: var(--infra); background: var(--infra-soft); } .mark.invalid { color: var(--invalid); background: var(--invalid-soft); }
.body { padding: 2px 16px 16px; border-top: 1px solid var(--line); }
.reason { font-size: 15px; font-weight: 550; margin: 12px 0; }
.trial.fail .reason { color: var(--fail); } .trial.infra .reason { color: var(--infra); } .trial.invalid .reason { color: var(--invalid); }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 3px 16px; margin: 0; font-size: 13.5px; }
.facts dt { color: var(--dim); max-width: 220px; } .facts dd { margin: 0; white-space: pre-wrap; }
.gates > li { padding: 7px 0; border-top: 1px solid var(--line); font-size: 14px; }
.gates > li:first-child { border-top: 0; }
.gates .mark { width: 18px; height: 18px; font-size: 11px; margin-right: 8px; vertical-align: -3px; }
.gates code { margin-right: 4px; } .gates .facts { margin: 6px 0 4px 26px; } .gates > li > .long { margin-left: 26px; }
.scores li { display: grid; grid-template-columns: minmax(90px, 200px) minmax(60px, 220px) auto; gap: 12px; align-items: center; font-size: 13.5px; }
.meter { width: 100%; height: 6px; } .meter .track { fill: var(--line); } .meter .fill { fill: var(--accent); }
.body section ul:not([class]) { padding-left: 18px; list-style: disc; font-size: 13.5px; }
.body section > .dim { font-size: 13px; margin-top: 6px; }
.evaluators li { font-size: 13.5px; margin-bottom: 8px; } .problem { color: var(--fail); }
.files { font-size: 13px; color: var(--dim); margin-top: 16px; }

pre { margin: 6px 0 0; padding: 8px 12px; background: var(--code); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.45; unicode-bidi: plaintext; max-height: 70vh; overflow-y: auto; }
.long > summary { cursor: pointer; font-size: 12.5px; padding: 4px 0; color: var(--dim); }
.preview { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; color: var(--text); }
.size { color: var(--accent); white-space: nowrap; }
.transcript > li { padding: 8px 12px; margin-bottom: 6px; border-radius: 10px; font-size: 14px; }
.who { font-size: 12px; font-weight: 650; color: var(--dim); text-transform: none; } .at { font-size: 11.5px; color: var(--dim); opacity: 0.8; font-variant-numeric: tabular-nums; }
.said { white-space: pre-wrap; } .diff { overflow-x: auto; } .diff ins { text-decoration: none; color: var(--pass); } .diff del { text-decoration: none; color: var(--fail); }
.matrix .number button.case { font-weight: inherit; } .matrix td.fail { color: var(--fail); font-weight: 600; } .matrix td.pass { color: var(--pass); }
.message.user { background: color-mix(in srgb, var(--accent) 9%, transparent); margin-left: 8%; }
.message.assistant { background: color-mix(in srgb, var(--code) 85%, transparent); margin-right: 8%; }
.message.assistant pre { background: var(--card); }
.message.quiet { padding-top: 2px; padding-bottom: 2px; } .message.quiet .said { color: var(--dim); } .message.quiet summary, .harness summary { cursor: pointer; }
.call { border: 1px solid var(--line); }
.command::before { content: "$ "; color: var(--dim); }
.result { margin-top: 6px; } .result pre { border-left: 3px solid var(--line); border-radius: 0 8px 8px 0; } .result.bad pre { border-left-color: var(--fail); }
.harness { border-left: 3px solid var(--line); border-radius: 0 8px 8px 0 !important; padding-top: 3px !important; padding-bottom: 3px !important; font-size: 13px !important; }
.harness.good { border-left-color: var(--pass); } .harness.bad { border-left-color: var(--fail); } .harness.warn { border-left-color: var(--infra); }
.transcript .chip { vertical-align: 1px; }
.nested { margin-left: 32px; }
.cut { padding: 6px 12px; }

@media (max-width: 640px) {
  main { padding: 20px 12px 60px; }
  h1 { font-size: 21px; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px; } .figure { padding: 10px 12px; } .value { font-size: 20px; }
  .trial > summary { flex-wrap: wrap; gap: 6px 10px; } .chips { flex-basis: 100%; justify-content: flex-start; padding-left: 32px; }
  .facts { grid-template-columns: minmax(0, 1fr); gap: 0; } .facts dd { margin-bottom: 5px; }
  .gates .facts, .gates > li > .long { margin-left: 0; }
  .message.user, .message.assistant { margin-left: 0; margin-right: 0; } .nested { margin-left: 14px; }
  .cases thead { display: none; }
  .cases tr { display: flex; flex-wrap: wrap; gap: 2px 14px; padding: 9px 12px; border-top: 1px solid var(--line); border-left: 3px solid var(--pass); align-items: center; }
  .cases tr:first-child { border-top: 0; }
  .cases tr.fail { border-left-color: var(--fail); } .cases tr.infra { border-left-color: var(--infra); } .cases tr.invalid { border-left-color: var(--invalid); }
  .cases.use tr, .cases.own tr { border-left-color: transparent; }
  .cases th, .cases td { padding: 0; border: 0; min-width: 0; } .cases tbody th, .cases .rate { flex-basis: 100%; }
  .agent { flex-basis: 100%; } .cases td.none { display: none; }
  td[data-label] { font-size: 13px; } td[data-label]::before { content: attr(data-label) " "; color: var(--dim); }
}
@media print { .filters { display: none; } .cases .scroll { max-height: none; } .trial { content-visibility: visible; } }
`
