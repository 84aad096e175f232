// npm run bench [name…]: every figure against its baseline, as a table and as bench/results/latest.json.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { analyzeLargePlugin } from './analyze-plugin.ts'
import { boundaryLatency, boundaryStreams } from './boundary.ts'
import { claudeTrials, sdkTurns } from './claude-code.ts'
import { compareMemory, compareRuns, permutationTest } from './compare.ts'
import { copyTemplate } from './copy-tree.ts'
import { eventLog } from './event-log.ts'
import type { Figure } from './figure.ts'
import { guardEditedFiles } from './guard-edited-files.ts'
import { helpedHook, helpedHookBesideShell } from './guard-helper.ts'
import { engineTime, hookAfterCommand, hookAfterEdit, hookBeforeTool } from './guard-hook.ts'
import { guardSessionStart } from './guard-session-start.ts'
import { guardTrace } from './guard-trace.ts'
import { mergeOfShards } from './merge-shards.ts'
import { overlayOnBubblewrap, overlayOnDocker } from './overlay.ts'
import { evaluateMemory, evaluateTranscripts } from './plugin-evaluate.ts'
import { pluginSessions } from './plugin-sessions.ts'
import { queueFetch, queueMemory, queueOverhead, queueTrials } from './queue.ts'
import { replay } from './replay.ts'
import { sseClients } from './sse.ts'
import { startup } from './startup.ts'
import { listQueue } from './task-queue.ts'
import { hashRepository } from './tree-hash.ts'
import { memory, trials } from './trials.ts'
import { verifyInLoop, verifyInLoopOnDocker, verifyOnBubblewrap, verifyOnDocker } from './verify.ts'
import { viewFilter, viewFollow, viewRun, viewRuns, viewTrial } from './view.ts'

const root = join(import.meta.dirname, '..')
const figures: Record<string, () => Promise<Figure>> = {
  startup,
  trials,
  memory,
  'compare-runs': compareRuns,
  'compare-memory': compareMemory,
  'permutation-test': permutationTest,
  'merge-shards': mergeOfShards,
  'copy-tree': copyTemplate,
  'tree-hash': hashRepository,
  'event-log': eventLog,
  'boundary-latency': boundaryLatency,
  'boundary-streams': boundaryStreams,
  replay,
  'claude-trials': claudeTrials,
  'sdk-turns': sdkTurns,
  'plugin-sessions': pluginSessions,
  'hook-before-tool': hookBeforeTool,
  'hook-after-edit': hookAfterEdit,
  'hook-after-command': hookAfterCommand,
  'helped-hook': helpedHook,
  'helped-hook-shell': helpedHookBesideShell,
  'guard-session-start': guardSessionStart,
  'guard-engine': engineTime,
  'guard-edited-files': guardEditedFiles,
  'guard-trace': guardTrace,
  'task-queue': listQueue,
  'queue-trials': queueTrials,
  'queue-overhead': queueOverhead,
  'queue-memory': queueMemory,
  'queue-fetch': queueFetch,
  'sse-clients': sseClients,
  'view-run': viewRun,
  'view-filter': viewFilter,
  'view-trial': viewTrial,
  'view-runs': viewRuns,
  'view-follow': viewFollow,
  'verify-bubblewrap': verifyOnBubblewrap,
  'verify-docker': verifyOnDocker,
  'verify-loop': verifyInLoop,
  'verify-loop-docker': verifyInLoopOnDocker,
  'overlay-bubblewrap': overlayOnBubblewrap,
  'overlay-docker': overlayOnDocker,
  'analyze-plugin': analyzeLargePlugin,
  'plugin-evaluate': evaluateTranscripts,
  'plugin-evaluate-memory': evaluateMemory,
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
