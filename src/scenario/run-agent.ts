import type { AgentOutcome } from '../agents/contract.ts'
import { addTokens } from '../core/add-tokens.ts'
import { GantryError } from '../core/error.ts'
import type { Untimed } from '../core/event.ts'
import { type BehindSession, openBehind } from '../models/boundary/behind.ts'
import type { SessionReport } from '../models/boundary/contract.ts'
import { type CallsSeen, callsSeen } from './calls-seen.ts'
import type { Recorder } from './recorder.ts'
import type { TrialEnvironment } from './trial-environment.ts'
import type { TrialPlace } from './trial-place.ts'
import type { TrialModel, TrialWork } from './trial-work.ts'

/** The agent at work on the prompt, with whatever stands behind it. */
export async function runAgent(
  work: TrialWork,
  place: TrialPlace,
  env: TrialEnvironment,
  recorder: Recorder,
): Promise<AgentOutcome> {
  const run = (
    session: BehindSession | null,
    emit: Recorder['emit'] = recorder.emit,
  ): Promise<AgentOutcome> =>
    work.agent.driver.run({
      prompt: work.case.scenario.task.prompt,
      workspace: place.fixture,
      model: work.planned.model,
      env: env.agent,
      signal: session === null ? work.signal : AbortSignal.any([work.signal, session.stopped]),
      emit,
      transcript: recorder.transcript,
      ...limitsOf(work),
      ...(session !== null && { endpoint: session.endpoint }),
    })
  if (work.behind === null) return run(null)
  const calls = callsSeen(work.behind.model)
  const session = await openSession(work, work.behind, place, calls).catch(unusableCassette)
  if ('invalid' in session) return session
  // The last event of an agent stays the last one: what its calls cost is known only when all of them have ended.
  const last: Untimed[] = []
  const ran = await run(session, (event) =>
    event.event === 'complete' ? last.push(event) : recorder.emit(event),
  ).catch(async (error: unknown) => {
    await session.finish({ keep: false })
    throw error
  })
  const failureOf = () => ran.failure ?? (isStopped(ran) ? null : calls.failure())
  const keep = failureOf() === null && (ran.ending === 'exited' || ran.ending === 'over_turns')
  const report = await session.finish({ keep })
  // Only now is every call at its end.
  const outcome = withReport({ ...ran, failure: failureOf() }, report, recorder, work.behind, calls)
  for (const event of last) recorder.emit(event)
  return outcome
}

/** By us: what it would have done next is not known. */
function isStopped({ ending }: AgentOutcome): boolean {
  return ending !== 'exited' && ending !== 'crashed'
}

/** A cassette that is missing or damaged breaks its case and no other. */
function unusableCassette(error: unknown): AgentOutcome & { readonly invalid: string } {
  if (
    !(error instanceof GantryError) ||
    !['NOT_FOUND', 'INVALID_FILE', 'CORRUPT', 'USAGE'].includes(error.code)
  )
    throw error
  return {
    ending: 'not_started',
    exitCode: null,
    finalText: null,
    costUsd: 0,
    tokens: null,
    failure: null,
    invalid: [error.message, error.hint].filter(Boolean).join('. '),
  }
}

/** What comes from a file costs nothing, so no cap can be reached by it; unless somebody wants to see one reached. */
function limitsOf({ limits, behind, agent }: TrialWork): TrialWork['limits'] {
  if (behind === null) return limits
  const { source, replay } = behind.model
  const isFree = replay === 'strict' || (source.kind === 'script' && agent.meter !== 'always')
  if (!isFree) return limits
  const { maxCostUsd: _, ...others } = limits
  return others
}

async function openSession(
  work: TrialWork,
  behind: TrialModel,
  place: TrialPlace,
  calls: CallsSeen,
): Promise<BehindSession> {
  const { planned, agent } = work
  const { maxCostUsd } = limitsOf(work)
  return openBehind(await behind.boundary(), behind.model, {
    places: { workspace: place.fixture, home: place.home, tmp: place.tmp },
    cassette: behind.cassette,
    redact: work.redaction.text,
    facts: {
      case: planned.case,
      agent: planned.agent,
      driver: agent.driver.name,
      version: agent.probe.version ?? 'unknown',
      model: planned.model,
    },
    prices: work.prices,
    onExchange: calls.see,
    ...(maxCostUsd !== undefined && { maxCostUsd }),
    ...(behind.faults !== null && { faults: behind.faults }),
  })
}

/** What passed the boundary tells what the agent did not: tokens, cost, and that a cassette no longer fits. */
function withReport(
  outcome: AgentOutcome,
  report: SessionReport,
  recorder: Recorder,
  { model }: TrialModel,
  calls: CallsSeen,
): AgentOutcome {
  if (outcome.tokens === null) {
    for (const { model, tokens, costUsd } of report.usage) {
      recorder.emit({
        event: 'usage',
        model,
        input_tokens: tokens.input,
        output_tokens: tokens.output,
        cache_read_tokens: tokens.cacheRead,
        cache_write_tokens: tokens.cacheWrite,
        ...(tokens.thinking !== undefined && { thinking_tokens: tokens.thinking }),
        ...(costUsd !== null && { cost_usd: costUsd }),
      })
    }
  }
  const invalid = report.problem ?? outcome.invalid
  return {
    ...outcome,
    costUsd: billOf(outcome, report, model, calls),
    tokens: outcome.tokens ?? totalOf(report),
    ...(invalid !== undefined && { invalid }),
  }
}

/** What was really paid. An agent that counts for itself does not know that its answers came from a file. */
function billOf(
  { costUsd }: AgentOutcome,
  { exchanges }: SessionReport,
  { source, replay }: TrialModel['model'],
  calls: CallsSeen,
): number | null {
  const mayBeFree = source.kind === 'script' || replay === 'strict' || replay === 'auto'
  if (mayBeFree) return calls.paidUsd()
  return costUsd ?? (exchanges === 0 ? null : calls.paidUsd())
}

function totalOf({ usage }: SessionReport): AgentOutcome['tokens'] {
  const [first, ...rest] = usage
  return first === undefined ? null : rest.reduce((sum, row) => addTokens(sum, row.tokens), first.tokens)
}
