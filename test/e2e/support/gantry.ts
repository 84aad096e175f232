import { type ChildProcess, spawn } from 'node:child_process'
import type { CliContext, CliStream } from '../../../src/cli/context.ts'
import { runCli } from '../../../src/cli/main.ts'
import type { Comparison } from '../../../src/core/comparison.ts'
import type { RunSummary } from '../../../src/core/summary.ts'
import type { TrialRecord } from '../../../src/core/trial.ts'
import { program } from '../../support/program.ts'
import type { TestProject } from './project.ts'

export interface GantryResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface GantryOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly signal?: AbortSignal
}

/** What `gantry test --json` prints. */
export interface RunDocument {
  readonly schema_version: number
  readonly run_id: string
  readonly run_dir: string
  readonly summary: RunSummary
  readonly trials: readonly TrialRecord[]
  readonly comparisons?: readonly Comparison[]
}

/** One command line in this process, with its own context. */
export async function gantry(
  project: TestProject,
  argv: readonly string[],
  { env = {}, cwd = project.dir, signal = new AbortController().signal }: GantryOptions = {},
): Promise<GantryResult> {
  let code = 0
  const stdout = capture()
  const stderr = capture()
  const context: CliContext = {
    cwd,
    env: { ...baseEnv(project), ...env },
    stdout: stdout.stream,
    stderr: stderr.stream,
    signal,
    setExitCode: (next) => {
      code = next
    },
  }
  const failed = await runCli(argv, context)
  return { code: failed ?? code, stdout: stdout.text(), stderr: stderr.text() }
}

/** `gantry test … --json`, parsed. Throws with what was printed when there is no document. */
export async function gantryTest(
  project: TestProject,
  argv: readonly string[] = [],
  options: GantryOptions = {},
): Promise<RunDocument & GantryResult> {
  const result = await gantry(project, ['test', ...argv, '--json'], options)
  if (result.stdout === '') throw new Error(`exit ${result.code}: ${result.stderr}`)
  return { ...(JSON.parse(result.stdout) as RunDocument), ...result }
}

/** The only trial of a run. */
export function onlyTrial({ trials }: Pick<RunDocument, 'trials'>): TrialRecord {
  const [trial] = trials
  if (trial === undefined || trials.length !== 1) throw new Error(`${trials.length} trials, expected one`)
  return trial
}

/** The real program in its own process. */
export function startGantry(
  project: TestProject,
  argv: readonly string[],
  { env = {}, cwd = project.dir }: GantryOptions = {},
  wrapper: readonly string[] = [],
): { readonly child: ChildProcess; readonly ended: Promise<GantryResult> } {
  const [command = '', ...rest] = [...wrapper, process.execPath, program, ...argv]
  const child = spawn(command, rest, {
    cwd,
    env: { ...baseEnv(project), ...env },
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
  const ended = new Promise<GantryResult>((settle, fail) => {
    child.on('error', fail)
    child.on('close', (code) => settle({ code, stdout, stderr }))
  })
  return { child, ended }
}

function baseEnv({ store, home }: TestProject): Record<string, string> {
  return { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', HOME: home, AGENT_ARTIFACT_DIR: store }
}

function capture(): { readonly stream: CliStream; readonly text: () => string } {
  const parts: string[] = []
  return {
    stream: {
      write: (text) => {
        parts.push(text)
      },
      isTTY: false,
      columns: 100,
      color: false,
    },
    text: () => parts.join(''),
  }
}
