import type { AgentOutcome } from '../agents/contract.ts'
import { outcomeOf } from '../core/outcome.ts'
import type { ModelUsage, TrialRecord } from '../core/trial.ts'
import type { Verdict } from '../core/verdict.ts'
import { freeSpace } from '../io/host.ts'
import { readHeadAndTail } from '../io/read-head.ts'
import { agentCostUsd, pricedUsage } from '../model-link/agent-cost.ts'
import { authAdvice } from '../model-link/choose-model-link.ts'
import { recordForPeople } from '../report/finished-run.ts'
import { makeRoom } from '../trials/put-aside.ts'
import { type AgentStage, agentStage, stopIfInterrupted } from './agent-stage.ts'
import { type Assessment, assess, notAssessed } from './assess.ts'
import { openRecorder, type Recorder } from './recorder.ts'
import { runPostScripts } from './scripts.ts'
import { type TrialEnvironment, trialEnvironment } from './trial-environment.ts'
import { type TrialPlace, type TrialWork, trialPlace } from './trial-work.ts'
import { restoreGraderFiles } from './workspace.ts'

/**
 * One attempt of an agent at a case, from the empty directory to the record. Everything the agent does ends in a verdict; only an
 * interruption or a failure of the machine throws.
 */
export async function runTrial(work: TrialWork): Promise<TrialRecord> {
  const place = trialPlace(work.dir)
  const startedAt = work.clock.now().toISOString()
  const finished = work.checkpoints.read('agent') as AgentStage | undefined
  const recorder = await openRecorder(place, work.redaction, work.clock, finished !== undefined)
  try {
    const env = trialEnvironment(work, place)
    const stage = finished ?? (await agentStage(work, place, env, recorder))
    if (finished === undefined) work.checkpoints.write('agent', work.redaction.value(stage))
    return await evaluate({ work, place, recorder, stage, startedAt }, env)
  } catch (error) {
    makeRoom(error, [place.fixture, place.home, place.tmp])
    throw error
  } finally {
    recorder.close()
  }
}

/** A trial whose agent has ended. */
interface EndedTrial {
  readonly work: TrialWork
  readonly place: TrialPlace
  readonly recorder: Recorder
  readonly stage: AgentStage
  readonly startedAt: string
}

async function evaluate(trial: EndedTrial, env: TrialEnvironment): Promise<TrialRecord> {
  const { work, place, recorder, stage } = trial
  const unjudged = (verdict: Verdict, reason: string) => recordOf(trial, notAssessed(), { verdict, reason })
  if (stage.kind === 'invalid') return unjudged('invalid', stage.reason)
  const { outcome } = stage
  if (outcome.invalid !== undefined) return unjudged('invalid', outcome.invalid)
  const broken = brokenMachinery(outcome, recorder, work, place)
  if (broken !== null) return unjudged('infra', broken)
  const warnings = [
    ...(outcome.warnings ?? []),
    ...silentEnd(outcome, recorder, work, place),
    ...(outcome.ending === 'over_budget' ? [cutShort] : []),
    ...restored(work, place),
  ]
  const scripts = { workspace: place.fixture, env: env.after, signal: work.signal }
  if (work.earlier === undefined)
    warnings.push(...(await runPostScripts(work.case.scenario.scripts.post, scripts, recorder.emit)))
  stopIfInterrupted(work.signal)
  const assessment = await assess(work, place, scripts, recorder, stage)
  stopIfInterrupted(work.signal)
  for (const { name, error } of assessment.evaluators)
    if (error !== undefined) warnings.push(`evaluator ${name}: ${error}`)
  for (const message of warnings) recorder.emit({ event: 'note', level: 'warning', message })
  return recordOf(trial, assessment, judged(assessment, place), warnings)
}

const cutShort =
  'a cost limit stopped the agent before it was done; what it had done until then was evaluated'

function judged(
  assessment: Assessment,
  { fixture, transcript }: TrialPlace,
): { readonly verdict: Verdict; readonly reason: string } {
  if (assessment.brokenGate !== null) return { verdict: 'invalid', reason: assessment.brokenGate }
  if (assessment.judgeProblem !== null) return { verdict: 'infra', reason: assessment.judgeProblem.message }
  const outcome = outcomeOf(assessment.gates, assessment.judge)
  // The text alone proves nothing: the agent may quote it. A program that failed may have removed what filled the disk.
  const isFull = outcome.verdict === 'fail' && (freeSpace(fixture)?.bytes ?? Infinity) < 1e9
  return isFull && noSpace.test(readHeadAndTail(transcript, 1e6))
    ? { verdict: 'infra', reason: diskFull }
    : outcome
}

const noSpace = /\bENOSPC\b|no space left on device|disk quota exceeded/i
export const diskFull = 'the disk was full while the agent worked'

/** An agent that could not work says nothing about the tool, so the trial does not count as a failure. */
function brokenMachinery(
  { failure, ending, exitCode, finalText }: AgentOutcome,
  recorder: Recorder,
  { agent, redaction }: TrialWork,
  { transcript }: TrialPlace,
): string | null {
  if (failure !== null) {
    const advice = failure.reason === 'auth' ? authAdvice(agent) : ''
    return `the agent could not work (${failure.reason}): ${failure.message}${advice}`
  }
  if (ending === 'not_started') return 'the agent could not be started'
  const idle = finalText === null && recorder.toolUses().length === 0
  // Exit codes of a shell for a program that is missing or not executable.
  if (ending === 'exited' && (exitCode === 126 || exitCode === 127) && idle) {
    const said = recorder.hasTranscript() ? lastLine(readHeadAndTail(transcript, 4_096)) : ''
    return `the agent's command could not be run (exit ${exitCode})${said === '' ? '' : `: ${redaction.text(said)}`}`
  }
  return null
}

/** An agent that failed without an answer and without using a tool said why only on its standard error. */
function silentEnd(
  { ending, exitCode, finalText, warnings = [] }: AgentOutcome,
  recorder: Recorder,
  { redaction }: TrialWork,
  { transcript }: TrialPlace,
): string[] {
  const isSilent = finalText === null && recorder.toolUses().length === 0 && recorder.hasTranscript()
  if (ending !== 'exited' || exitCode === 0 || exitCode === null || !isSilent || warnings.length > 0)
    return []
  const said = lastLine(readHeadAndTail(transcript, 4_096))
  return said === '' ? [] : [`the agent exited with code ${exitCode}: ${redaction.text(said)}`]
}

/** Of a transcript of events, the text in the last one. */
function lastLine(transcript: string): string {
  const line = transcript.trimEnd().split('\n').at(-1)?.trim() ?? ''
  const [, text] = /^\{.*"(?:text|message)":("(?:[^"\\]|\\.)*")/.exec(line) ?? []
  return text === undefined ? line : lastLine(String(JSON.parse(text)))
}

function restored(work: TrialWork, place: TrialPlace): string[] {
  // When work is graded again, its grading scripts are those of the template that it had.
  return restoreGraderFiles(work.case, place).map((path) =>
    work.earlier === undefined
      ? `the agent changed ${path}, which grades it; the template's version was restored`
      : `${path}, which grades it, has changed since`,
  )
}

function recordOf(
  { work, place, recorder, stage, startedAt }: EndedTrial,
  assessment: Assessment,
  { verdict, reason }: ReturnType<typeof judged>,
  warnings: readonly string[] = [],
): TrialRecord {
  const outcome = stage.kind === 'ran' ? stage.outcome : null
  const usage = pricedUsage(work, recorder.usage())
  const { planned } = work
  const { brokenGate: _, judgeProblem, ...assessed } = assessment
  const record: TrialRecord = {
    id: planned.id,
    case: planned.case,
    file: work.case.shownFile,
    agent: planned.agent,
    model: planned.model,
    ...(work.caseHash !== undefined && { caseHash: work.caseHash }),
    attempt: planned.attempt,
    verdict,
    prompt: work.case.scenario.task.prompt,
    reason,
    ...assessed,
    costUsd: costOf(work, outcome, usage, assessment),
    tokens: outcome?.tokens ?? null,
    ...(usage.length > 0 && { usage }),
    durationMs: stage.kind === 'ran' ? stage.durationMs : 0,
    ending: judgeProblem?.overBudget === true ? 'over_budget' : (outcome?.ending ?? 'not_started'),
    agentExitCode: outcome?.exitCode ?? null,
    ...(outcome?.failure != null && { failure: outcome.failure.reason }),
    ...(judgeProblem !== null && { judgeError: judgeProblem.message }),
    dir: place.dir,
    tags: work.case.scenario.tags,
    infraRetries: work.infraRetries,
    cachedFrom: null,
    cacheKey: work.cacheKey,
    startedAt,
    warnings,
  }
  return recordForPeople(record, work.redaction.forPeople)
}

/** The agent's cost plus the judge's. Unknown stays unknown. */
function costOf(
  { planned, prices }: TrialWork,
  outcome: AgentOutcome | null,
  usage: readonly ModelUsage[],
  { judge }: Assessment,
): number | null {
  const agent = outcome === null ? null : agentCostUsd({ model: planned.model, prices }, outcome, usage)
  if (agent === null) return null
  return judge === null ? agent : agent + (judge.costUsd ?? 0)
}
