import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import type { Variables } from '../core/expand.ts'
import type { DeclaredCommand, Note, VerificationRun } from '../guard-engine/contract.ts'
import { whyHollow } from '../guard-engine/evidence/hollow-definition.ts'
import { knownCommands, requiredCommands } from '../guard-engine/evidence/required-commands.ts'
import { doubtOfRun } from '../guard-engine/facts/doubt-of-run.ts'
import { hiddenList } from '../guard-engine/facts/tree-changes.ts'
import { treeFingerprint } from '../guard-engine/facts/tree-fingerprint.ts'
import { missingSinceStart } from '../guard-engine/gate/find-blockers.ts'
import { isGreenRun } from '../guard-engine/history/gate.ts'
import { ledgerPlace } from '../guard-engine/ledger/ledger-place.ts'
import { appendNote } from '../guard-engine/ledger/open-ledger.ts'
import { latestHistory } from '../guard-engine/ledger/read-ledger.ts'
import { type RecordedEnvironment, recordedEnvironment } from '../guard-engine/ledger/recorded-environment.ts'
import { readProjectFacts } from '../guard-engine/project/read-project-facts.ts'
import { kernelShell } from '../guard-engine/protection/kernel-layer.ts'
import { runVerification } from '../guard-engine/run-verification.ts'
import { settingsInForce } from '../guard-engine/settings/settings-in-force.ts'
import { inspectTests } from '../guard-engine/tests/inspect-tests.ts'
import { weakeningKey, weakenings } from '../guard-engine/tests/weakenings.ts'

export interface ProjectVerifyRequest {
  /** Real path of the project. */
  readonly root: string
  readonly guardHome: string
  readonly env: Variables
  /** Whether an agent runs this. */
  readonly beneathAgent: boolean
  readonly signal: AbortSignal
  readonly nowMs: () => number
  readonly onStart?: (command: DeclaredCommand) => void
}

export interface ProjectVerification {
  readonly verdict: 'green' | 'red' | 'infra' | 'nothing_declared'
  readonly runs: readonly VerificationRun[]
  /** What became weaker in the tests since they were last green, one sentence each. */
  readonly weakened: readonly string[]
  /** Commands that did not run because their program is not installed, now and at the start of the session. */
  readonly missing: readonly string[]
  /** Settings files that count as they were sealed. */
  readonly sealed: readonly string[]
}

/** Runs the declared commands and records the results as evidence that no agent can fake. */
export async function verifyProject(request: ProjectVerifyRequest): Promise<ProjectVerification> {
  const { root, guardHome, env, signal } = request
  const history = latestHistory(guardHome, root)
  const read = await settingsInForce({ root, env, userDir: guardHome }, history)
  if (read.kind === 'broken') throw new GantryError('INVALID_FILE', read.problem)
  const { settings } = read
  const checkEnv = verificationEnv(env, {
    agent: request.beneathAgent,
    recorded: recordedEnvironment(guardHome, root),
  })
  const project = await readProjectFacts(root, settings, { entries: false, env: checkEnv })
  const all = requiredCommands({ history, settings, project })
  const missing = all.filter(({ command }) => missingSinceStart(command, { history, project }) !== null)
  const commands = all.filter((declared) => !missing.includes(declared))
  const before = history.evidence.tests
  const trees = join(ledgerPlace(guardHome, root, '').directory, 'trees')
  const on = { home: checkEnv.HOME ?? null, path: checkEnv.PATH ?? '' }
  // In a session whose commands cannot change protected files, the checks cannot either.
  const session = env.CLAUDE_CODE_SESSION_ID ?? ''
  const sandbox = kernelShell(guardHome, session, env)
  const runs: VerificationRun[] = []
  for (const command of commands) {
    if (signal.aborted) break
    request.onStart?.(command)
    const [ran] = await runVerification({
      root,
      commands: [command],
      ...(sandbox === null
        ? { env: checkEnv }
        : { sandbox, env: { ...checkEnv, CLAUDE_CODE_SESSION_ID: session } }),
      timeoutMs: settings.checklist.verificationTimeoutSeconds * 1000,
      tree: () => {
        const written = (): readonly string[] => Object.keys(history.edits.files)
        return treeFingerprint(root, settings.state.dir, {
          keepIn: trees,
          hiddenIn: hiddenList(trees),
          written,
        })
      },
      doubt: (tree, startedMs) => doubtOfRun({ root, home: on.home ?? '', trees, history }, tree, startedMs),
      ...(history.evidence.most !== undefined && { most: history.evidence.most }),
      begun: {
        home: on.home ?? '',
        sinceMs: Date.parse(history.session.startedAt ?? ''),
        placed: history.evidence.placed ?? {},
      },
      signal,
    })
    if (ran === undefined) break
    const now = before === null ? null : await inspectTests(root, [command], on)
    const hollow = whyHollow(command.command, before, now)
    const run = hollow === null || ran.notCounted !== undefined ? ran : { ...ran, notCounted: hollow }
    runs.push(run)
    appendNote({ guardHome, root, note: noteOf(run), nowMs: request.nowMs() })
  }
  const verdict = verdictOf(commands, runs)
  const now =
    before === null ? null : await inspectTests(root, knownCommands({ history, settings, project }), on)
  const byCommand = Object.fromEntries(runs.map((run) => [run.command, { ...run, by: 'guard' as const }]))
  const weakened = weakenings(before, now, { ...history.evidence, byCommand })
  // Named here, so the next stop does not refuse to name them. The user still sees them at the end.
  if (verdict === 'green')
    for (const text of weakened) {
      const note = { kind: 'warned', about: weakeningKey(text) } as const
      appendNote({ guardHome, root, note, nowMs: request.nowMs() })
    }
  return { runs, verdict, weakened, missing: missing.map(({ command }) => command), sealed: read.sealed }
}

export function isGreen(run: VerificationRun): boolean {
  return run.notCounted === undefined && isGreenRun(run)
}

function noteOf({ notCounted, infra, ...evidence }: VerificationRun): Note {
  return notCounted === undefined && infra === undefined
    ? { kind: 'evidence', evidence, by: 'guard', callId: null, alone: true }
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

/** Harmless variables that commands may need. Any other variable an agent sets could make a test runner pass. */
const kept = /^(?:LANG|LANGUAGE|LC_\w+|TERM|TZ|TMPDIR|USER|LOGNAME|SHELL|CI|NO_COLOR|FORCE_COLOR)$/

/**
 * The environment of the commands. A user's environment is used unchanged. Under an agent, programs are looked up on the PATH of the
 * session start, because an agent could put its own `npm` first.
 */
export function verificationEnv(
  env: Variables,
  beneath: { readonly agent: boolean; readonly recorded: RecordedEnvironment | null },
): Variables {
  if (!beneath.agent) return env
  const plain = Object.fromEntries(Object.entries(env).filter(([name]) => kept.test(name)))
  const { recorded } = beneath
  return { ...plain, PATH: recorded?.path ?? env.PATH, HOME: recorded?.home ?? env.HOME }
}
