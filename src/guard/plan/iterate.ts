import { join } from 'node:path'
import { builtinToolCall } from '../../agents/builtin/hooks.ts'
import type { AgentHooks, AgentOutcome } from '../../agents/contract.ts'
import { scriptedToolCall } from '../../agents/scripted/hooks.ts'
import { asObject, asString, defined } from '../../core/json-fields.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { treeFingerprint } from '../../guard-engine/facts/tree-fingerprint.ts'
import { guardHooks } from '../../guard-engine/guard-hooks.ts'
import { inspectTests } from '../../guard-engine/tests/inspect-tests.ts'
import { weakenings } from '../../guard-engine/tests/weakenings.ts'
import { openAppendLog } from '../../io/append-log.ts'
import { systemClock } from '../../io/clock.ts'
import { writeFileAtomic, writeJsonAtomic } from '../../io/files.ts'
import { runLinkedAgent } from '../../model-link/run-linked-agent.ts'
import { type EventRecorder, openEventRecorder } from '../../store/event-recorder.ts'
import { iterationRecord } from './iteration-record.ts'
import {
  type Failure,
  type JudgedRun,
  judgeIteration,
  type Verification,
  verifyTree,
} from './judge-iteration.ts'
import type { PlanWork } from './open-plan-work.ts'
import { readPlanFile, writePlanFile } from './plan-file.ts'
import { type KeyedTask, type Reconciled, reconcilePlan, taskSection } from './plan-tasks.ts'
import { requiredNow } from './prepare-plan.ts'
import { taskPrompt } from './task-prompt.ts'

export interface IterationRequest {
  readonly id: string
  readonly number: number
  readonly task: KeyedTask
  readonly planText: string
  readonly attempt: number
  readonly failure: Failure | null
  /** The tree when the task was started. */
  readonly baseline: string
  readonly maxCostUsd?: number
}

export interface Iteration {
  readonly record: TrialRecord
  /** Who ticked the box, when the task is done. */
  readonly tickedBy: 'agent' | 'gantry'
  readonly failure: Failure | null
}

const maxDiffBytes = 4 * 1024 * 1024
const maxLogBytes = 16 * 1024 * 1024
const maxWeaker = 20

/** Runs one fresh agent on one task and checks the result. Afterwards the boxes of the plan are always as before. */
export async function iterate(work: PlanWork, request: IterationRequest): Promise<Iteration> {
  const { run, prepared, shadow, step } = work
  const { id, number, task, attempt, planText, baseline } = request
  const dir = run.openTrial(id)
  const before = await shadow.take()
  const tests = await inspectTests(prepared.request.root, work.declared)
  work.notes.begin(id, { task: task.key, line: task.line, plan: planText, baseline })
  step({
    kind: 'iteration_started',
    iteration: number,
    task: task.title,
    line: task.line,
    attempt,
    max_attempts: prepared.request.maxAttempts,
  })
  const startedAt = systemClock.now().toISOString()
  const startedMs = performance.now()
  const outcome = await askAgent(work, request, dir)
  const reconciled = putPlanBack(work, request)
  const after = await shadow.take()
  writeFileAtomic(
    join(dir, 'diff.patch'),
    prepared.redaction.text(await shadow.diff(before, after, maxDiffBytes)),
  )
  const changed = (await shadow.changes(baseline, after)).filter((path) => path !== work.file.path)
  const weaker = weakenings(tests, await inspectTests(prepared.request.root, work.declared))
  const weakened = weaker.slice(0, maxWeaker).map((text) => `tests are weaker than before: ${text}`)
  for (const message of weakened) step({ kind: 'note', level: 'warning', message })
  const warnings = [...warningsOf(reconciled), ...weakened]
  const end = (verdict: TrialRecord['verdict'], reason: string, runs: readonly JudgedRun[]): TrialRecord => {
    const durationMs = Math.round(performance.now() - startedMs)
    const facts = { id, task: task.key, line: task.line, attempt, outcome, startedAt, durationMs, warnings }
    return iterationRecord(work, { ...facts, verdict, reason, runs })
  }
  const tickedBy = reconciled.ticked ? 'agent' : 'gantry'
  const lost = whyLost(work, outcome)
  if (lost !== null) return { record: end('infra', lost, []), tickedBy, failure: null }
  const verification = await verify(work, request, dir)
  const { runs } = verification
  if (verification.kind === 'lost')
    return { record: end('infra', verification.why, runs), tickedBy, failure: null }
  const judged = judgeIteration({
    runs,
    isGreen: verification.kind === 'green',
    changed,
    plan: work.file.path,
  })
  if (judged.kind === 'done') return { record: end('pass', judged.reason, runs), tickedBy, failure: null }
  const { failure } = judged
  run.checkpoint(id, 'failure', failure)
  return { record: end('fail', failure.reason, runs), tickedBy, failure }
}

async function askAgent(work: PlanWork, request: IterationRequest, dir: string): Promise<AgentOutcome> {
  const { prepared, step } = work
  const { number, attempt, maxCostUsd } = request
  const prompt = await promptOf(work, request)
  writeFileAtomic(join(dir, 'prompt.md'), prepared.redaction.text(prompt))
  const recorder = openEventRecorder({
    events: join(dir, 'events.jsonl'),
    transcript: join(dir, 'transcript.raw.txt'),
    redaction: prepared.redaction,
    clock: systemClock,
  })
  const startedMs = performance.now()
  try {
    const turn = { prompt, iteration: number, attempt, recorder }
    const outcome = await runAgentOnTask(work, { ...turn, ...(maxCostUsd !== undefined && { maxCostUsd }) })
    step({
      kind: 'agent_ended',
      iteration: number,
      ending: outcome.ending,
      exit_code: outcome.exitCode,
      cost_usd: outcome.costUsd,
      duration_ms: Math.round(performance.now() - startedMs),
      failure: outcome.failure?.message ?? outcome.invalid ?? null,
    })
    return outcome
  } finally {
    recorder.close()
  }
}

async function promptOf(work: PlanWork, request: IterationRequest): Promise<string> {
  const { task, planText, attempt, failure } = request
  const { maxAttempts, commit } = work.prepared.request
  return taskPrompt({
    plan: work.file.path,
    section: taskSection(planText, task),
    commands: await commandsNow(work, planText),
    attempt,
    maxAttempts,
    failure,
    commits: commit,
  })
}

function commandsNow({ prepared: { request, settings }, declared }: PlanWork, planText: string) {
  return requiredNow({ root: request.root, settings, plan: request.plan, planText, declared })
}

function putPlanBack({ file, step }: PlanWork, { number, planText, task }: IterationRequest): Reconciled {
  const now = readPlanFile(file)
  const reconciled = reconcilePlan(planText, now, task.key)
  if (reconciled.text !== now) writePlanFile(file, reconciled.text)
  const { others: boxes, missing } = reconciled
  if (boxes.length > 0 || missing.length > 0)
    step({ kind: 'plan_restored', iteration: number, boxes, missing })
  return reconciled
}

function warningsOf({ others, missing }: Reconciled): readonly string[] {
  return [
    ...others.map((title) => `the agent changed the box of another task, and it was restored: ${title}`),
    ...missing.map((title) => `the agent removed a task from the plan, and it was restored: ${title}`),
  ]
}

/** Why the iteration was lost, so it does not count as an attempt. */
function whyLost({ signal }: PlanWork, { failure, invalid, ending }: AgentOutcome): string | null {
  if (signal.aborted || ending === 'cancelled') return 'it was interrupted'
  if (invalid !== undefined) return invalid
  return failure === null ? null : `${failure.reason}: ${failure.message}`
}

async function verify(
  work: PlanWork,
  { number, planText }: IterationRequest,
  dir: string,
): Promise<Verification> {
  const { prepared, checkEnv, signal, step } = work
  const { root } = prepared.request
  const { state, checklist } = prepared.settings
  const log = openAppendLog(join(dir, 'verification.log'))
  const pieces = prepared.redaction.chunks()
  let written = 0
  try {
    const verification = await verifyTree({
      root,
      commands: await commandsNow(work, readPlanFile(work.file) ?? planText),
      env: checkEnv,
      timeoutMs: checklist.verificationTimeoutSeconds * 1000,
      tree: () => treeFingerprint(root, state.dir),
      redact: prepared.redaction.text,
      onOutput: (chunk) => {
        written += chunk.length
        if (written <= maxLogBytes) log.append(pieces.push(chunk))
      },
      signal,
    })
    log.append(pieces.end())
    writeJsonAtomic(join(dir, 'evidence.json'), prepared.redaction.value(verification.runs))
    for (const run of verification.runs) {
      step({
        kind: 'verified',
        iteration: number,
        command: run.command,
        status: run.status,
        exit_code: run.exitCode,
        why: run.notCounted ?? null,
        duration_ms: run.durationMs,
      })
    }
    return verification
  } finally {
    log.close()
  }
}

interface TaskTurn {
  readonly prompt: string
  readonly iteration: number
  readonly attempt: number
  readonly maxCostUsd?: number
  readonly recorder: EventRecorder
}

/** Runs a new agent, which knows only the prompt, in the real tree. */
function runAgentOnTask(work: PlanWork, turn: TaskTurn): Promise<AgentOutcome> {
  const { agent, modelLink, prices, redaction, request } = work.prepared
  const { prompt, recorder, iteration, maxCostUsd } = turn
  const hooks = hooksOf(work, iteration)
  return runLinkedAgent({
    driver: agent.driver,
    modelLink:
      modelLink === null
        ? null
        : { model: modelLink, boundary: work.boundary, cassette: work.run.dir, faults: null },
    meter: agent.meter,
    prompt,
    workspace: request.root,
    places: { home: work.home, tmp: work.tmp },
    model: request.model,
    env: { ...work.env, GANTRY_ATTEMPT: String(turn.attempt) },
    timeoutMs: request.timeoutMs,
    ...(maxCostUsd !== undefined && { maxCostUsd }),
    prices,
    redact: redaction.text,
    facts: { agent: agent.name, driver: agent.driver.name, model: request.model },
    signal: work.signal,
    emit: (event) => {
      recorder.emit(event)
      if (event.event !== 'tool_call') return
      const { tool, command } = event
      const path = pathIn(event.input)
      work.step(defined({ kind: 'tool_used', iteration, tool, command, path }))
    },
    transcript: recorder.transcript,
    ...(hooks !== null && { hooks }),
  })
}

function pathIn(input: unknown): string | undefined {
  const fields = asObject(input)
  return asString(fields?.file_path) ?? asString(fields?.path)
}

/** Every iteration is a separate session in the ledger. */
function hooksOf({ guard, prepared, run, step }: PlanWork, iteration: number): AgentHooks | null {
  if (guard === null) return null
  return guardHooks({
    guard,
    agent: 'builtin',
    session: `${run.id}-${iteration}`,
    root: prepared.request.root,
    toToolCall: prepared.agent.driver.name === 'scripted' ? scriptedToolCall : builtinToolCall,
    onNotice: (message) => step({ kind: 'note', level: 'info', message }),
  })
}
