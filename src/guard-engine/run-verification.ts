import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Evidence } from '../core/evidence.ts'
import { type ExecResult, exec } from '../io/exec.ts'
import { findProgram } from '../io/find-program.ts'
import { readShortText } from '../io/read-short-text.ts'
import { isHarmlessAssignment } from '../shell/script-state.ts'
import type { DeclaredCommand, VerificationRun } from './contract.ts'
import { changedTree, failureOf, testCountsOf, whyRunProvesNothing, whySilent } from './evidence/judge-run.ts'
import { provesNothing } from './evidence/proves-nothing.ts'
import { isGreenRun } from './history/gate.ts'
import { printable } from './printable.ts'
import { fakeRunner } from './tests/machine-state.ts'
import { ranWith } from './tests/surroundings.ts'

export interface VerificationRequest {
  readonly root: string
  readonly commands: readonly DeclaredCommand[]
  /** The complete environment of the commands. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Time limit of each command. */
  readonly timeoutMs: number
  /** The program through which the commands run, with the shell text as its argument; absent without a sandbox. */
  readonly sandbox?: string
  /** The program around all of that, such as one that shows other files. */
  readonly inside?: (argv: readonly string[]) => readonly [string, ...string[]]
  /** Since when a changed runner is not trusted, and the home in which one may be; absent without a session. */
  readonly begun?: Omit<Parameters<typeof fakeRunner>[1], 'root'>
  /** The most tests that each command ran before. */
  readonly most?: Readonly<Record<string, number>>
  /** Fingerprint of the working tree; null when not available. */
  tree(): Promise<string | null>
  /** Why a green run since this time proves nothing, by what was written beside it; null when it does. */
  doubt?(tree: string, startedMs: number): Promise<string | null>
  readonly onOutput?: (command: string, chunk: Uint8Array) => void
  readonly signal?: AbortSignal
}

const maxOutputBytes = 1024 * 1024

/**
 * Runs the declared commands one after the other, each in its own shell in the root, and returns what each proves. Never throws because of
 * a command. After an abort the remaining commands are skipped.
 */
export async function runVerification(request: VerificationRequest): Promise<readonly VerificationRun[]> {
  const runs: VerificationRun[] = []
  let before = await fingerprint(request)
  for (const declared of request.commands) {
    if (request.signal?.aborted) break
    const startedAt = new Date().toISOString()
    const result = await runOne(request, declared)
    const after = await fingerprint(request)
    const run = judged(declared, result, { before, after }, request)
    const isGreen = after !== null && run.exitCode === 0 && run.notCounted === undefined
    const doubt = isGreen ? ((await request.doubt?.(after, Date.parse(startedAt))) ?? null) : null
    runs.push({ ...run, ...(doubt !== null && { notCounted: doubt }), startedAt })
    before = after
  }
  return runs
}

async function fingerprint({ tree }: VerificationRequest): Promise<string | null> {
  try {
    return await tree()
  } catch {
    // The caller gets evidence that cannot be bound to a tree.
    return null
  }
}

function runOne(request: VerificationRequest, { command }: DeclaredCommand): Promise<ExecResult> {
  const { root, timeoutMs, onOutput, signal, sandbox, inside } = request
  const env = cleanEnv(request.env)
  const listen = (chunk: Uint8Array): void => onOutput?.(command, chunk)
  const argv =
    sandbox === undefined
      ? shellFor(env.PATH ?? '', command)
      : ([sandbox, `set -o pipefail; ${command}`] as const)
  return exec({
    argv: inside?.(argv) ?? argv,
    cwd: root,
    env,
    timeoutMs,
    maxOutputBytes,
    onStdout: listen,
    onStderr: listen,
    ...(signal !== undefined && { signal }),
  })
}

/** A run that repeats an unclear one. It may fail only because the agent's had a server, a variable or an option, so a red one is not evidence. */
export function inDoubt(run: VerificationRun, before?: string): VerificationRun {
  if (run.notCounted !== undefined || isGreenRun(run)) return run
  const names = (run.failures ?? []).slice(0, 4).map((name) => JSON.stringify(printable(name, 100)))
  const which = names.length > 0 ? ` (${names.join(', ')})` : run.complaint ? ` (${run.complaint})` : ''
  return {
    ...run,
    notCounted: `${before?.startsWith(ranWith) ? before : 'no run of yours showed how it ends'}, so the guard ran it itself, and it failed with exit ${run.exitCode}${which}`,
  }
}

/**
 * Without variables that make a shell or a runner do something else than its command says. Python reads no compiled file, because one can say
 * something else than its source.
 */
function cleanEnv(env: VerificationRequest['env']): Record<string, string> {
  const kept = Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        !misleading.test(entry[0]) &&
        (entry[0] !== 'NODE_OPTIONS' || isHarmlessAssignment(`NODE_OPTIONS=${entry[1]}`)),
    ),
  )
  return { ...kept, PYTHONPYCACHEPREFIX: '/dev/null' }
}

const misleading =
  /^(?:BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|PYTEST_ADDOPTS|PYTEST_PLUGINS|PYTHONSTARTUP|PYTHONINSPECT|PYTHONBREAKPOINT|(?:GNU)?MAKEFLAGS|MFLAGS|MAKEFILES|MAKEOVERRIDES|GOFLAGS|CARGO_TARGET_\w+_RUNNER|CARGO_ALIAS_\w+|RUBYOPT|PERL5OPT|MAVEN_ARGS|SPEC_OPTS|npm_config_(?:script_shell|node_options|ignore_scripts|if_present|workspaces?|prefix))$/i

/** With Bash, a declared pipe fails when any part of it fails. */
function shellFor(searchPath: string, command: string): readonly [string, ...string[]] {
  const bash = findProgram('bash', searchPath) ?? findProgram('bash', '/bin:/usr/bin')
  return bash === null ? ['/bin/sh', '-c', command] : [bash, '-o', 'pipefail', '-c', command]
}

type Run = Omit<VerificationRun, 'startedAt'>

function judged(
  { command, kind }: DeclaredCommand,
  result: ExecResult,
  { before, after }: { readonly before: string | null; readonly after: string | null },
  { most, root, begun }: VerificationRequest,
): Run {
  const output = `${result.stdout.text}\n${result.stderr.text}`
  const exitCode = exitCodeOf(result)
  const evidence: Omit<Evidence, 'startedAt'> = {
    kind,
    command,
    exitCode,
    treeHash: after ?? before ?? '',
    durationMs: Math.round(result.durationMs),
    ...testCountsOf(kind, output),
    ...failureOf(exitCode, output),
  }
  const complaint = exitCode === 0 ? undefined : complaintIn(output)
  const failed = { ...evidence, ...(complaint !== undefined && { complaint }) }
  if (result.ending === 'not_started')
    return {
      ...evidence,
      notCounted: `it could not be started: ${result.error ?? 'no reason given'}`,
      infra: true,
    }
  if (before === null || after === null)
    return { ...evidence, notCounted: 'the tree it ran on could not be fingerprinted', infra: true }
  const notCounted =
    unseenEnd(result) ??
    provesNothing(command) ??
    whyRunProvesNothing({
      ...{ exitCode, output, kind },
      isWhole: !/[|>]/.test(command),
      read: (path) => readShortText(resolve(root, path), maxOutputBytes),
    }) ??
    whySilent(evidence, most) ??
    (begun === undefined || exitCode !== 0 ? null : fakeRunner(command, { root, ...begun }))
  if (notCounted !== null) return { ...evidence, notCounted }
  return before === after ? failed : { ...evidence, notCounted: changedTree }
}

/** What a linter found first: a line with a place or the word error. The agent has not seen this run. */
function complaintIn(output: string): string | undefined {
  const lines = stripVTControlCharacters(output)
    .split(/[\r\n]+/)
    .filter((line) => !/^\s*(?:$|>|npm |make|\w+: recipe)/.test(line))
  const found =
    lines.find((line) => /\w\.\w+[:(]\d+|^\s*\d+:\d+\s/.test(line)) ??
    lines.find((line) => /\b(?:error|warning|would reformat|not formatted)\b/i.test(line))
  return found === undefined ? undefined : JSON.stringify(printable(found.trim(), 160))
}

function unseenEnd({ ending, signal }: ExecResult): string | null {
  if (ending === 'timed_out') return 'it ran into the time limit'
  if (ending === 'aborted') return 'it was interrupted'
  return ending === 'signalled' ? `it was ended by ${signal ?? 'a signal'}` : null
}

function exitCodeOf({ ending, exitCode }: ExecResult): number {
  return { exited: exitCode ?? 1, timed_out: 124, aborted: 130, signalled: 128, not_started: 127 }[ending]
}
