import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { asObject } from '../core/json-fields.ts'
import { shorten } from '../core/shorten.ts'
import { ranTests, testsRun } from '../guard-engine/history/gate.ts'
import { makeDirectories } from '../io/directory.ts'
import { readJsonIfExists, writeJsonAtomic } from '../io/files.ts'
import { textInside } from '../io/read-text-inside.ts'
import { sha256 } from '../io/sha256.ts'
import type { VerificationDetails, VerifierResponse } from '../verifier/contract.ts'
import { evidenceFrom } from '../verifier/sandbox-document.ts'
import {
  type ActiveTask,
  currentStrategy,
  type KeptVerification,
  throwIfStopped,
  verificationRuns,
} from './active-task.ts'
import { loopLimits, milestones } from './contract.ts'
import { otherFiles } from './editor/other-files.ts'
import { countVerification } from './loop-counters.ts'
import { keptEarlier } from './open-task.ts'
import { issuesInLog } from './scouts/detect-facts.ts'
import { infra } from './task-halt.ts'
import type { MoreOfRun } from './task-request.ts'

/**
 * Runs the steps on the untouched tree before any model is asked. What failed there is remembered by name, and how many tests ran.
 * Ends the task when the steps cannot work at all, because something is not installed.
 */
export async function runBaseline(active: ActiveTask): Promise<void> {
  const { journal, emit, known } = active
  emit({ kind: 'milestone', milestone: 'baseline', text: milestones.baseline })
  const { isReused, ...kept } = await journal.step('baseline-run', () => baselineRun(active))
  known.untouched = await journal.step('untouched', async () => keptEarlier(active, 'untouched') ?? kept)
  const counts = kept.evidence.map(testsRun).filter((count) => count !== undefined)
  emit({
    kind: 'baseline',
    run_id: isReused ? null : kept.runId,
    status: kept.status,
    tests: counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0),
    failures: kept.evidence.flatMap(({ failures = [] }) => failures),
    reused: isReused,
  })
  if (kept.status === 'INFRA_ERROR') throw verifierFault(kept)
  const missing = missingIn(active, kept)
  if (missing === null) return
  const { name = '', command = '' } = kept.failedStep ?? {}
  throw infra(
    'Verifier',
    `step "${name}" (${command}) cannot work on the untouched tree: ${missing.issue}`,
    `${missing.suggested_fix} Try it with gantry verify, then retry the task. No model was asked.`,
  )
}

export function verifierFault({ error }: KeptVerification) {
  return infra(
    'Verifier',
    `${error?.type ?? 'unknown'}: ${error?.message ?? ''}`,
    'Check the sandbox with gantry doctor, then retry the task. The changes so far are kept.',
  )
}

/** The last result of a repository is kept: a retry, or the apply after a dry run, begins with the same tree. */
async function baselineRun(active: ActiveTask): Promise<KeptVerification & { readonly isReused: boolean }> {
  const { context, request, baseline, tree } = active
  const { cacheDir } = context.store
  const places = join(cacheDir, 'baseline')
  const path = join(places, `${sha256(request.repository).slice(0, 16)}.json`)
  const tracked = await tree.entries(baseline.tree)
  const { marks } = otherFiles(request.repository, { tracked, leaveOut: tree.leaveOut })
  const facts = [baseline.tree, request.sandbox, request.steps, context.env.PATH, marks]
  const key = sha256(JSON.stringify(facts))
  const found = asObject(readJsonIfExists(path))
  if (found?.key === key) return { ...(found.run as KeptVerification), isReused: true }
  const run = await verify(active, 0)
  // What is missing may be installed outside the tree.
  if (run.status === 'PASS' || (run.status === 'FAIL' && hasTests(run))) {
    makeDirectories(places)
    writeJsonAtomic(path, { key, run })
  }
  return { ...run, isReused: false }
}

function hasTests({ evidence }: KeptVerification): boolean {
  return evidence.some(ranTests)
}

/** Why the failed step cannot work whatever is changed; null when a change of the tree may fix it. */
function missingIn({ tree }: ActiveTask, { status, failedStep, evidence, log }: KeptVerification) {
  if (status !== 'FAIL' || failedStep === null || ranTests(evidence.at(-1) ?? none)) return null
  const manifests =
    'package.json pyproject.toml requirements.txt requirements-dev.txt setup.cfg setup.py Pipfile'
  const read = (path: string): string => textInside(tree.root, path) ?? ''
  const declared = `${manifests.split(' ').map(read).join('\n')} pytest jest vitest mocha tox`
  const names = (name: string): boolean =>
    declared.split(/[^\w@/.-]+/).some((word) => word.replace(/[=<>~!].*/, '') === name)
  return (
    issuesInLog(log).find(({ severity, subject }) => {
      if (severity !== 'blocking') return false
      // A module that the project does not declare may be the one to write.
      return subject?.kind === 'dependency'
        ? names(subject.name)
        : subject === undefined || failedStep.exit_code === 127
    }) ?? null
  )
}

const none = { kind: 'other', command: '', exitCode: 1, treeHash: '', startedAt: '', durationMs: 0 } as const

/** Verifies the current tree. An interrupted verification is repeated and counts once. */
export async function verifyStep(active: ActiveTask): Promise<KeptVerification> {
  const { journal, emit, known, context, states, request } = active
  const attempt = known.attempts.length + 1
  const of = { attempt, max_attempts: loopLimits.hardStopAt }
  states.move('VERIFYING', `verification ${attempt}`)
  context.onChange({ current_attempt: attempt })
  emit({ kind: 'milestone', milestone: 'verifying', text: milestones.verifying, ...of })
  const kept = await journal.step(`verify-${attempt}`, () => verify(active, attempt))
  known.verification = kept
  known.counters = countVerification(known.counters, kept.status)
  known.attempts.push({
    ...{ attempt, runId: kept.runId, status: kept.status, primaryFailure: kept.failure },
    ...{ strategy: currentStrategy(active), tree: kept.tree },
  })
  context.onChange({ run_ids: verificationRuns(active) })
  emit({
    kind: 'verifier_result',
    run_id: kept.runId,
    attempt,
    status: kept.status,
    duration_ms: kept.durationMs,
    failure: kept.failure,
  })
  if (kept.status === 'PASS')
    emit({ kind: 'milestone', milestone: 'verified', text: milestones.verified, ...of })
  if (kept.status === 'FAIL' && !request.dryRun)
    emit({ kind: 'milestone', milestone: 'failed', text: milestones.failed, ...of })
  return kept
}

/** Runs the steps on the tree as it is. A run with `more` is not an attempt: it compares an attempt with another tree. */
export async function verify(
  active: ActiveTask,
  attempt: number,
  more?: MoreOfRun,
): Promise<KeptVerification> {
  const { tools, signal, emit, tree, context } = active
  throwIfStopped(active)
  const state = await tree.take()
  const startedMs = performance.now()
  let runId: string | null = null
  const trigger = (id: string): void => {
    if (runId !== null) return
    runId = id
    if (attempt > 0 && more === undefined) emit({ kind: 'verifier_trigger', run_id: id, attempt })
  }
  const response = await tools.verify(
    attempt,
    signal,
    {
      started: trigger,
      output: (text) => emit({ kind: 'verifier_output', run_id: runId ?? '', text }),
    },
    more,
  )
  throwIfStopped(active)
  if (response.run_id !== null) trigger(response.run_id)
  const log = context.redaction.text(response.tail_log)
  const details = response.manifest?.details as Partial<VerificationDetails> | undefined
  return {
    status: response.status,
    runId: response.run_id,
    log,
    tree: state,
    durationMs: Math.round(performance.now() - startedMs),
    failure: failureOf(response, log),
    steps: (response.manifest?.commands_executed ?? []).map(({ name, command, duration_ms }) => ({
      name,
      command: context.redaction.text(command),
      duration_ms,
    })),
    failedStep: response.failed_step ?? null,
    evidence: context.redaction.value(
      details?.evidence?.map(evidenceFrom) ?? [],
    ) as KeptVerification['evidence'],
    ...(details?.rewritten && { rewritten: details.rewritten }),
    error:
      response.status === 'INFRA_ERROR'
        ? {
            type: response.error_type ?? 'unknown',
            message: context.redaction.text(response.error_message ?? 'the Verifier did not say why'),
          }
        : null,
  }
}

/** The line that best explains the failure, never the line with the exit code. */
function failureOf(response: VerifierResponse, log: string): string | null {
  if (response.status === 'PASS') return null
  if (response.status === 'INFRA_ERROR') return response.error_message ?? null
  if (response.fake_green !== undefined) return response.fake_green
  if (response.failed_step?.timed_out === true) return `step "${response.failed_step.name}" timed out`
  const failure = primaryFailure(log)
  const details = response.manifest?.details as Partial<VerificationDetails> | undefined
  const names = (details?.evidence ?? []).flatMap(({ failures = [] }) => failures)
  return failure === null ? null : withNames(failure, names)
}

/** Failures of different tests often have the same words. */
export function withNames(failure: string, names: readonly string[]): string {
  const [first, ...more] = names
  if (first === undefined || names.some((name) => failure.includes(name))) return failure
  const rest = more.length === 0 ? '' : ` and ${more.length} more`
  return shorten(`test ${JSON.stringify(shorten(first, 100))}${rest}: ${failure}`, maxChars)
}

const maxChars = 300

/** Strongest first. The first line of the strongest kind wins, because later ones are mostly its consequence. */
const kinds: readonly RegExp[] = [
  /^(?:Uncaught |Unhandled )?(?:[A-Za-z_][\w.]*)?(?:Error|Exception|Failure|Panic)\b(?: \[[\w]+\])?:/,
  /^E {2,}\S|^(?:thread '.*' )?panicked at|^panic:|\bAssertion .*failed\b|^AssertionError\b/i,
  /\berror(?: TS\d+|\[E\d+\])?: |: (?:fatal )?error: |\bundefined reference to\b|\bSyntaxError\b/,
  /^\s*(?:not ok|✗|✖|×|--- FAIL:|FAIL(?:ED)?\b)\s*\S/,
  /\bcommand not found\b|\bNo such file or directory\b|\bcannot find (?:module|package)\b|\bPermission denied\b|\bSegmentation fault\b|\bKilled\b/i,
  /\btimed out\b|\btimeout\b/i,
  /\b(?:fail(?:ed|ure|ing)?|errors?|cannot|unexpected|not found)\b/i,
]

/** Lines that the Verifier adds around the output of a step. */
const frame = /^(?:=+|-{3,}(?: exit code\b.*)?$|\$ |#{1,3} |exit code\b|command\b:?|step \d+)/i
const harmless = /\b0 (?:errors?|failed|failures)\b|\bno errors\b/i

/** The log line that best explains the failure; null when the log is empty. */
export function primaryFailure(log: string): string | null {
  const lines = stripVTControlCharacters(log)
    .split(/\r\n|[\n\r]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const output = lines.filter((line) => !frame.test(line) && !harmless.test(line))
  for (const kind of kinds) {
    const found = output.findIndex((line) => kind.test(line))
    if (found >= 0) return shorten(withValues(output.slice(found)), maxChars)
  }
  const last = output.at(-1) ?? lines.at(-1)
  return last === undefined ? null : shorten(last, maxChars)
}

const maxValueLines = 6

/** The line with the message and the values that follow it: those of `node:assert`, also as TAP. */
function withValues([line = '', ...after]: readonly string[]): string {
  const first = line.replace(/^error: (?:\|-|(?='))/, '')
  if (first === line && !/[a-z]:$/.test(line)) return line
  if (first.startsWith("'")) return first
  const end = after.findIndex((each) => /^at /.test(each) || (first === '' && /^[a-z]+: '/.test(each)))
  const values = after.slice(0, end < 0 ? maxValueLines : Math.min(end, maxValueLines))
  return [first, ...values.filter((each) => each !== '+ actual - expected')].join(' ').trim()
}
