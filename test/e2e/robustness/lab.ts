import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TrialRecord } from '../../../src/core/trial.ts'
import { program } from '../../support/program.ts'
import { type GantryOptions, type GantryResult, type RunDocument, startGantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'

/** The real program as a child, to its end. */
export function runGantry(
  project: TestProject,
  argv: readonly string[],
  options: GantryOptions = {},
): Promise<GantryResult> {
  return startGantry(project, argv, options).ended
}

/** `gantry test … --json` as a child, with its document. */
export async function runTests(
  project: TestProject,
  argv: readonly string[] = [],
  options: GantryOptions = {},
): Promise<RunDocument & GantryResult> {
  const result = await runGantry(project, ['test', ...argv, '--json'], options)
  if (result.stdout === '') throw new Error(`exit ${result.code}: ${result.stderr}`)
  return { ...(JSON.parse(result.stdout) as RunDocument), ...result }
}

/** An agent that is a shell script of the project: `agents: { worker: … }`. */
export function shellAgent(more: Record<string, unknown> = {}): Record<string, unknown> {
  return { agents: { worker: { driver: 'command', command: ['sh', './agent.sh'], ...more } } }
}

/** A shell script around the program, for what only a shell can do: `$GANTRY test …` runs it. */
export async function runShell(
  project: TestProject,
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<GantryResult> {
  const child = spawn('sh', ['-c', script], {
    cwd: project.dir,
    env: {
      PATH: process.env.PATH ?? '',
      LANG: 'C.UTF-8',
      HOME: project.home,
      AGENT_ARTIFACT_DIR: project.store,
      GANTRY: `${process.execPath} ${program}`,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const code = await new Promise<number | null>((settle) => child.on('close', settle))
  return { code, stdout, stderr }
}

/** The same in its own mount namespace, where `mount` does no harm. */
export function runMounted(project: TestProject, script: string): Promise<GantryResult> {
  const quoted = `'${script.replaceAll("'", "'\\''")}'`
  return runShell(project, `exec unshare -m sh -c ${quoted}`)
}

/** Whether this machine lets us mount. In CI it must: there the tests are never left out. */
export function canMount(): boolean {
  if (process.env.CI === 'true') return true
  return spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
}

export async function until(what: string, holds: () => boolean, patienceMs = 500_000): Promise<void> {
  for (const start = performance.now(); !holds(); await sleep(10))
    if (performance.now() - start > patienceMs) throw new Error(`waited in vain until ${what}`)
}

/** Everything alive that came from the project: its store or its directory is in the environment, or it works there. */
export function processesOf(project: TestProject): string[] {
  const root = dirname(project.dir)
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => tells(`/proc/${pid}/environ`, root) || isIn(pid, root))
    .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`)
    .filter((line) => line.includes(' ') && line.trim().includes(' '))
}

function tells(path: string, text: string): boolean {
  return read(path).includes(text)
}

function isIn(pid: string, root: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(root)
  } catch {
    return false
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Lines of a file that agents append to; none while it is not there. */
export function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
}

/** Ids of the stored runs, oldest first. */
export function runIds(project: TestProject): string[] {
  const runs = join(project.store, 'runs')
  return existsSync(runs)
    ? readdirSync(runs)
        .filter((name) => name.startsWith('run_'))
        .sort()
    : []
}

export function onlyRun(project: TestProject): string {
  const [id, ...others] = runIds(project)
  if (id === undefined || others.length > 0) throw new Error(`${others.length + 1} runs, expected one`)
  return id
}

export function runPath(project: TestProject, ...parts: string[]): string {
  return join(project.store, 'runs', ...parts)
}

export function manifestOf(project: TestProject, id: string): Record<string, unknown> {
  return JSON.parse(readFileSync(runPath(project, id, 'manifest.json'), 'utf8')) as Record<string, unknown>
}

export function verdictsOf({ trials }: { readonly trials: readonly TrialRecord[] }): string[] {
  return trials.map(({ verdict }) => verdict)
}

/** Every file below a directory, whose bytes contain the text. */
export function filesWith(directory: string, text: string): string[] {
  const { stdout } = spawnSync('grep', ['-rlaF', '--', text, directory], { encoding: 'utf8' })
  return stdout.split('\n').filter(Boolean)
}

/** Largest resident size the process had so far. */
export function peakMemoryBytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024
}

export function makeFifo(path: string): void {
  execFileSync('mkfifo', [path])
}
