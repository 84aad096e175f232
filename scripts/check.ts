// npm run check: unit tests, and in parallel types, lint, unused code and generated files. Prints the whole output of a part that
// fails, and one line for the others.
//   node scripts/check.ts before-tests     in place of the tests gets what `npm test` needs: agents and sandboxes
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { styleText } from 'node:util'

interface Part {
  readonly name: string
  readonly argv: readonly [string, ...string[]]
  readonly env?: NodeJS.ProcessEnv
}

const root = join(import.meta.dirname, '..')
const path = [join(root, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter)
/** Forces colours in the parts, because their output may end on a terminal. */
const env = { ...process.env, PATH: path, ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}) }
const onWindows = process.platform === 'win32'

/** One type checker, which collects garbage less often: a second would repeat part of the work and take a core from the tests. */
const types = (name: string, project: string): Part => {
  const known = join(root, 'node_modules/.cache/check', `${project}.tsbuildinfo`)
  const flags = ['--noEmit', '--checkers', '1', '--incremental', '--tsBuildInfoFile', known]
  return { name, argv: ['tsc', '-p', project, ...flags], env: { GOGC: '400' } }
}
/** Prints only failing tests and the total. */
const tests = [
  'vitest',
  'run',
  '--reporter',
  'minimal',
  '--reporter',
  './scripts/closing-line-reporter.ts',
] as const
/** Each waits for downloads or for a daemon. */
const preparations: readonly Part[] = [
  { name: 'agents', argv: ['node', 'scripts/fetch-agents.ts'] },
  { name: 'sandboxes', argv: ['node', 'scripts/start-sandboxes.ts'] },
]
/** The tests take at least as long as all other parts one after another. */
const lanes: readonly (readonly Part[])[] = [
  process.argv[2] === 'before-tests'
    ? preparations
    : [{ name: 'unit tests', argv: [...tests, '--project', 'pure', '--project', 'unit'] }],
  [
    types('types', 'tsconfig.json'),
    types('types of the page', 'web/tsconfig.json'),
    { name: 'lint', argv: ['biome', 'check', '.'] },
    { name: 'unused code', argv: ['knip', '--cache'] },
    { name: 'generated files', argv: ['node', 'scripts/generate.ts', '--check'] },
  ],
]

const running = new Set<ChildProcess>()
let stoppedBy: NodeJS.Signals | null = null
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)

const passed = (await Promise.all(lanes.map(runLane))).every(Boolean)
process.exitCode = stoppedBy === null ? (passed ? 0 : 1) : 128 + constants.signals[stoppedBy]

/** Runs all parts even after a failure, to show everything there is to fix. */
async function runLane(parts: readonly Part[]): Promise<boolean> {
  let passed = true
  for (const part of parts) {
    if (stoppedBy !== null) return false
    passed = (await run(part)) && passed
  }
  return passed
}

async function run({ name, argv: [program, ...args], env: own }: Part): Promise<boolean> {
  const startedAt = performance.now()
  // In its own process group, a part can be ended with everything it started.
  const child = spawn(program, args, {
    cwd: root,
    env: { ...env, ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: !onWindows,
    shell: onWindows,
  })
  running.add(child)
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk))
  const { promise: ended, resolve } = Promise.withResolvers<string | null>()
  child.on('error', (error) => resolve(error.message))
  child.on('close', (code, signal) => resolve(code === 0 ? null : (signal ?? `exit code ${code}`)))
  const failure = await ended
  running.delete(child)
  if (stoppedBy !== null) return false

  const text = Buffer.concat(output).toString().trimEnd()
  const took = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  if (failure === null) {
    console.log(`${styleText('green', 'ok')}      ${name}, ${took}${lastLine(text)}`)
  } else {
    console.log(`\n${text}\n\n${styleText('red', 'failed')}  ${name}, ${took}: ${failure}`)
  }
  return failure === null
}

/** Shows how many tests or files a part checked, so that a part that did nothing does not look green. */
function lastLine(text: string): string {
  const last = text.split('\n').at(-1) ?? ''
  return last === '' ? '' : `: ${last}`
}

/** Passes the first signal on, so that each part can clean up; the second one ends them. */
function stop(signal: NodeJS.Signals): void {
  const passOn = stoppedBy === null ? signal : 'SIGKILL'
  if (stoppedBy === null) console.error(`stopping: ${signal}`)
  stoppedBy ??= signal
  for (const child of running) {
    if (onWindows || child.pid === undefined) child.kill(passOn)
    else endGroup(child.pid, passOn)
  }
}

function endGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // It has just ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
