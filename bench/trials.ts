import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compare, type Figure, inMemory, inTemporary } from './figure.ts'

const gantry = join(import.meta.dirname, '../dist/cli/bin.js')

/** 500 trials that do nothing, against spawning the same 500 processes from bare Node with two workers. */
export function trials(): Promise<Figure> {
  return inTemporary((base) => {
    makeProject(base)
    runTrials(base, 'warm', 20)
    return compare({
      name: '500 trials of /bin/true with a file gate, -j 2',
      atMost: 2.5,
      baseline: 'spawning 500 processes with two workers',
      rounds: 5,
      ours: (round) => runTrials(base, `round-${round}`, 500),
      theirs: bareSpawns,
    })
  }, inMemory)
}

/** Peak memory must not grow with the number of trials. */
export function memory(): Promise<Figure> {
  return inTemporary(async (base) => {
    makeProject(base)
    const few = runTrials(base, 'few', 500)
    const many = runTrials(base, 'many', 5_000)
    const ratio = many / few
    return {
      name: 'peak memory of 5,000 trials',
      limit: 'at most 1.3x that of 500',
      ratio,
      ok: ratio <= 1.3,
      detail: { oursMb: many / 1024, baselineMb: few / 1024 },
    }
  }, inMemory)
}

function makeProject(project: string): void {
  mkdirSync(join(project, 'template'))
  writeFileSync(join(project, 'template/README.md'), 'Nothing to do.\n')
  writeFileSync(
    join(project, 'gantry.yaml'),
    'agents:\n  nothing: { driver: command, command: [/bin/true] }\n',
  )
  writeFileSync(
    join(project, 'nothing.yaml'),
    `name: nothing
description: Does nothing.
target: { binary: "true" }
template_folder: template
task: { prompt: Do nothing. }
evaluation:
  gates:
    - { type: file_exists, path: README.md }
`,
  )
}

/** Writes the peak resident memory to the fourth stream when the process ends. */
const tellMemory = `import { writeSync } from 'node:fs'
process.on('exit', () => writeSync(3, String(process.resourceUsage().maxRSS)))`

/** Returns the peak resident memory in KiB. */
function runTrials(project: string, store: string, count: number): number {
  const preload = `data:text/javascript,${encodeURIComponent(tellMemory)}`
  const flags = ['--repeat', String(count), '-j', '2', '--no-cache', '--reporter', 'json:report.json']
  const ran = spawnSync(process.execPath, ['--import', preload, gantry, 'test', 'nothing.yaml', ...flags], {
    cwd: project,
    env: { ...process.env, AGENT_ARTIFACT_DIR: join(project, 'stores', store) },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
  if (ran.status !== 0) throw new Error(`gantry test ended with ${ran.status}`)
  return Number(String(ran.output[3]))
}

/** Two workers in a Node process that has loaded nothing else. */
const spawnMany = `const { spawn } = require('node:child_process')
let left = 500
const worker = async () => {
  while (left-- > 0) await new Promise((done) => spawn('/bin/true', { stdio: 'ignore' }).on('exit', done))
}
worker(); worker()`

function bareSpawns(): void {
  const { status } = spawnSync(process.execPath, ['-e', spawnMany], { stdio: 'ignore' })
  if (status !== 0) throw new Error(`the bare process ended with ${status}`)
}
