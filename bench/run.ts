// npm run bench [name…]: every figure against its baseline, as a table and as bench/results/latest.json.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Figure } from './figure.ts'

const root = join(import.meta.dirname, '..')
// Each is loaded when it is measured: a large process takes longer to start others.
const figures: Record<string, () => Promise<Figure>> = {
  startup: async () => (await import('./startup.ts')).startup(),
  trials: async () => (await import('./trials.ts')).trials(),
  memory: async () => (await import('./trials.ts')).memory(),
  'compare-runs': async () => (await import('./compare.ts')).compareRuns(),
  'compare-memory': async () => (await import('./compare.ts')).compareMemory(),
  'permutation-test': async () => (await import('./compare.ts')).permutationTest(),
  'merge-shards': async () => (await import('./merge-shards.ts')).mergeOfShards(),
  'copy-tree': async () => (await import('./copy-tree.ts')).copyTemplate(),
  'tree-hash': async () => (await import('./tree-hash.ts')).hashRepository(),
  'event-log': async () => (await import('./event-log.ts')).eventLog(),
  'boundary-latency': async () => (await import('./boundary.ts')).boundaryLatency(),
  'boundary-streams': async () => (await import('./boundary.ts')).boundaryStreams(),
  replay: async () => (await import('./replay.ts')).replay(),
  'claude-trials': async () => (await import('./claude-code.ts')).claudeTrials(),
  'sdk-turns': async () => (await import('./claude-code.ts')).sdkTurns(),
  'plugin-sessions': async () => (await import('./plugin-sessions.ts')).pluginSessions(),
  'hook-before-tool': async () => (await import('./guard-hook.ts')).hookBeforeTool(),
  'hook-after-edit': async () => (await import('./guard-hook.ts')).hookAfterEdit(),
  'hook-after-command': async () => (await import('./guard-hook.ts')).hookAfterCommand(),
  'helped-hook': async () => (await import('./guard-helper.ts')).helpedHook(),
  'helped-hook-shell': async () => (await import('./guard-helper.ts')).helpedHookBesideShell(),
  'guard-session-start': async () => (await import('./guard-session-start.ts')).guardSessionStart(),
  'guard-engine': async () => (await import('./guard-hook.ts')).engineTime(),
  'guard-edited-files': async () => (await import('./guard-edited-files.ts')).guardEditedFiles(),
  'guard-trace': async () => (await import('./guard-trace.ts')).guardTrace(),
  'task-queue': async () => (await import('./task-queue.ts')).listQueue(),
  'queue-trials': async () => (await import('./queue.ts')).queueTrials(),
  'queue-overhead': async () => (await import('./queue.ts')).queueOverhead(),
  'queue-memory': async () => (await import('./queue.ts')).queueMemory(),
  'queue-fetch': async () => (await import('./queue.ts')).queueFetch(),
  'sse-clients': async () => (await import('./sse.ts')).sseClients(),
  'view-run': async () => (await import('./view.ts')).viewRun(),
  'view-filter': async () => (await import('./view.ts')).viewFilter(),
  'view-trial': async () => (await import('./view.ts')).viewTrial(),
  'view-runs': async () => (await import('./view.ts')).viewRuns(),
  'view-follow': async () => (await import('./view.ts')).viewFollow(),
  'verify-bubblewrap': async () => (await import('./verify.ts')).verifyOnBubblewrap(),
  'verify-docker': async () => (await import('./verify.ts')).verifyOnDocker(),
  'verify-loop': async () => (await import('./verify.ts')).verifyInLoop(),
  'verify-loop-docker': async () => (await import('./verify.ts')).verifyInLoopOnDocker(),
  'overlay-bubblewrap': async () => (await import('./overlay.ts')).overlayOnBubblewrap(),
  'overlay-docker': async () => (await import('./overlay.ts')).overlayOnDocker(),
  'analyze-plugin': async () => (await import('./analyze-plugin.ts')).analyzeLargePlugin(),
  'plugin-evaluate': async () => (await import('./plugin-evaluate.ts')).evaluateTranscripts(),
  'plugin-evaluate-memory': async () => (await import('./plugin-evaluate.ts')).evaluateMemory(),
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !Object.hasOwn(figures, name))
if (unknown.length > 0) {
  console.error(`unknown figure: ${unknown.join(', ')}. Known figures: ${Object.keys(figures).join(', ')}`)
  process.exit(2)
}

execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { cwd: root, stdio: 'ignore' })
const results: Figure[] = []
for (const [name, measure] of Object.entries(figures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  process.stderr.write(`measuring ${name} …\n`)
  results.push(await measure())
}

const machine = {
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memoryMb: Math.round(totalmem() / 1e6),
  load: loadavg()[0],
  node: process.version,
}
mkdirSync(join(root, 'bench/results'), { recursive: true })
const document = { measuredAt: new Date().toISOString(), machine, figures: results }
writeFileSync(join(root, 'bench/results/latest.json'), `${JSON.stringify(document, null, 2)}\n`)

const rows = results.map(({ name, ratio, limit, ok, detail }) => [
  ok ? 'ok' : 'MISSED',
  name,
  ratio.toFixed(2),
  limit,
  Object.entries(detail)
    .map(([key, value]) => `${key} ${Number.isInteger(value) ? value : value.toFixed(1)}`)
    .join(', '),
])
console.log(
  [
    '| | figure | ratio | promised | measured |',
    '|---|---|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n'),
)
process.exitCode = results.every((figure) => figure.ok) ? 0 : 1
