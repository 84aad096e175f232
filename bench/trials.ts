import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Figure, median } from './contract.ts'

const gantry = join(import.meta.dirname, '../dist/bin.js')
const rounds = 5

/** 500 trials that do nothing, against spawning the same 500 processes from bare Node with two workers. */
export async function trialsFigure(): Promise<Figure> {
  const project = makeProject()
  try {
    const bare: number[] = []
    const ours: number[] = []
    runTrials(project, 20)
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await timed(() => spawnMany(500)))
      ours.push(await timed(() => Promise.resolve(runTrials(project, 500))))
    }
    const ratio = median(ours) / median(bare)
    return {
      name: '500 trials of /bin/true with a file gate, -j 2',
      limit: 'at most 2.5x spawning 500 processes with two workers',
      ratio,
      ok: ratio <= 2.5,
      detail: { bareMs: median(bare), oursMs: median(ours) },
    }
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

/** Peak memory must not grow with the number of trials. */
export async function memoryFigure(): Promise<Figure> {
  const project = makeProject()
  try {
    const few = runTrials(project, 500)
    const many = runTrials(project, 5_000)
    const ratio = many / few
    return {
      name: 'peak memory of 5,000 trials',
      limit: 'at most 1.3x that of 500',
      ratio,
      ok: ratio <= 1.3,
      detail: { fewMb: few / 1024, manyMb: many / 1024 },
    }
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

function makeProject(): string {
  const project = mkdtempSync(join(tmpdir(), 'gantry-bench-'))
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
  return project
}

/** Returns the peak resident memory in KiB. */
function runTrials(project: string, trials: number): number {
  const store = mkdtempSync(join(tmpdir(), 'gantry-bench-store-'))
  try {
    const args = [
      gantry,
      'test',
      'nothing.yaml',
      '--repeat',
      String(trials),
      '-j',
      '2',
      '--no-cache',
      '--reporter',
      'json:report.json',
    ]
    const code = `process.on('exit',()=>require('fs').writeSync(3,String(process.resourceUsage().maxRSS)))`
    const ran = spawnSync(
      process.execPath,
      [
        '--import',
        `data:text/javascript,${encodeURIComponent(`import{createRequire}from'node:module';const require=createRequire('file:///');${code}`)}`,
        ...args,
      ],
      {
        cwd: project,
        env: { ...process.env, AGENT_ARTIFACT_DIR: store },
        stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
      },
    )
    if (ran.status !== 0) throw new Error(`gantry test ended with ${ran.status}`)
    return Number(String(ran.output[3]))
  } finally {
    rmSync(store, { recursive: true, force: true })
  }
}

async function spawnMany(count: number): Promise<void> {
  let left = count
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await new Promise((done) => spawn('/bin/true', { stdio: 'ignore' }).on('exit', done))
    }
  }
  await Promise.all([worker(), worker()])
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await act()
  return performance.now() - started
}
