import { GantryError } from '../core/error.ts'
import type { DeclaredCommand, Note, VerificationRun } from '../guard-engine/contract.ts'
import { requiredCommands } from '../guard-engine/evidence/declared-commands.ts'
import { treeFingerprint } from '../guard-engine/facts/tree-fingerprint.ts'
import { appendNote } from '../guard-engine/ledger/open-ledger.ts'
import { latestHistory } from '../guard-engine/ledger/read-ledger.ts'
import { type RecordedEnvironment, recordedEnvironment } from '../guard-engine/ledger/recorded-environment.ts'
import { lookAtProject } from '../guard-engine/project/look-at-project.ts'
import { runVerification } from '../guard-engine/run-verification.ts'
import { readSettings } from '../guard-engine/settings/read-settings.ts'

export interface ProjectVerifyRequest {
  /** Real path of the project. */
  readonly root: string
  readonly guardHome: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** An agent runs this. */
  readonly beneathAgent: boolean
  readonly signal: AbortSignal
  readonly nowMs: () => number
  readonly onStart?: (command: DeclaredCommand) => void
  readonly onEnd?: (run: VerificationRun) => void
}

export interface ProjectVerification {
  readonly verdict: 'green' | 'red' | 'infra' | 'nothing_declared'
  readonly runs: readonly VerificationRun[]
}

/** Runs the declared commands and writes down what they prove: evidence that no agent can have faked. */
export async function verifyProject(request: ProjectVerifyRequest): Promise<ProjectVerification> {
  const { root, guardHome, env, signal } = request
  const read = await readSettings({ root, env, userDir: guardHome })
  if (read.kind === 'broken') throw new GantryError('INVALID_FILE', read.problem)
  const { settings } = read
  const project = await lookAtProject(root, settings, { entries: false })
  const commands = requiredCommands({ history: latestHistory(guardHome, root), settings, project })
  const recorded = recordedEnvironment(guardHome, root)
  const runs: VerificationRun[] = []
  for (const command of commands) {
    if (signal.aborted) break
    request.onStart?.(command)
    const [run] = await runVerification({
      root,
      commands: [command],
      env: verificationEnv(env, { agent: request.beneathAgent, recorded }),
      timeoutMs: settings.checklist.verificationTimeoutSeconds * 1000,
      tree: () => treeFingerprint(root, settings.state.dir),
      signal,
    })
    if (run === undefined) break
    runs.push(run)
    request.onEnd?.(run)
    appendNote({ guardHome, root, note: noteOf(run), nowMs: request.nowMs() })
  }
  return { runs, verdict: verdictOf(commands, runs) }
}

export function isGreen(run: VerificationRun): boolean {
  const isHollow = run.executed !== undefined && run.executed <= (run.skipped ?? 0)
  return run.notCounted === undefined && run.exitCode === 0 && (run.failed ?? 0) === 0 && !isHollow
}

function noteOf({ notCounted, infra, ...evidence }: VerificationRun): Note {
  return notCounted === undefined && infra === undefined
    ? { kind: 'evidence', evidence, by: 'guard', callId: null }
    : { kind: 'no_evidence', command: evidence.command, why: notCounted ?? 'it did not run' }
}

function verdictOf(
  commands: readonly DeclaredCommand[],
  runs: readonly VerificationRun[],
): ProjectVerification['verdict'] {
  if (commands.length === 0) return 'nothing_declared'
  if (runs.some(({ infra }) => infra === true)) return 'infra'
  return runs.length === commands.length && runs.every(isGreen) ? 'green' : 'red'
}

type Env = Readonly<Record<string, string | undefined>>

/** Harmless, and commands may need them. Whatever else an agent sets could make a test runner pass. */
const kept = /^(?:LANG|LANGUAGE|LC_\w+|TERM|TZ|TMPDIR|USER|LOGNAME|SHELL|CI|NO_COLOR|FORCE_COLOR)$/

/**
 * What commands are run with. A person's own environment is theirs; beneath an agent programs are looked for where they were when
 * the session began, because an agent could put its own `npm` first.
 */
export function verificationEnv(
  env: Env,
  beneath: { readonly agent: boolean; readonly recorded: RecordedEnvironment | null },
): Env {
  if (!beneath.agent) return env
  const plain = Object.fromEntries(Object.entries(env).filter(([name]) => kept.test(name)))
  const { recorded } = beneath
  return {
    ...plain,
    PATH: recorded?.path ?? env.PATH,
    HOME: recorded?.home ?? env.HOME,
  }
}
