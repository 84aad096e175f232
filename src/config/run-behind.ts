import type { AgentDriver, AgentOutcome, AgentRequest } from '../agents/contract.ts'
import { addTokens } from '../core/add-tokens.ts'
import { GantryError } from '../core/error.ts'
import type { AgentEvent, Untimed } from '../core/event.ts'
import {
  type BehindPlace,
  type BehindSession,
  type ModelBehind,
  openBehind,
} from '../models/boundary/behind.ts'
import type { Boundary, SessionReport } from '../models/boundary/contract.ts'
import type { FaultsConfig } from '../models/boundary/faults.ts'
import type { PriceTable } from '../models/pricing.ts'
import { type CallsSeen, callsSeen } from './calls-seen.ts'

/** What stands behind one run of an agent. */
export interface AgentBehind {
  readonly model: ModelBehind
  /** One for many agents, opened by the first who asks. */
  boundary(): Promise<Boundary>
  /** Absolute. */
  readonly cassette: string
  readonly faults: FaultsConfig | null
}

export interface BehindRequest extends Omit<AgentRequest, 'endpoint'> {
  readonly driver: AgentDriver
  /** null: the agent speaks to its provider by itself. */
  readonly behind: AgentBehind | null
  readonly meter: 'auto' | 'always' | 'never'
  /** Directories of the agent besides its workspace. */
  readonly places: Omit<BehindPlace, 'workspace'>
  readonly prices: PriceTable
  /** Told in a cassette: who was recorded. */
  readonly facts: Readonly<Record<string, string>>
  readonly redact: (text: string) => string
}

/** The agent at work on the prompt, with whatever stands behind it. */
export async function runBehind(request: BehindRequest): Promise<AgentOutcome> {
  const { behind } = request
  if (behind === null) return run(request, null)
  const calls = callsSeen(behind.model)
  const session = await openSession(request, behind, calls).catch(unusableCassette)
  if ('invalid' in session) return session
  // The last event of an agent stays the last one: what its calls cost is known only when all of them have ended.
  const last: Untimed<AgentEvent>[] = []
  const ran = await run(
    { ...request, emit: (event) => (event.event === 'complete' ? last.push(event) : request.emit(event)) },
    session,
  ).catch(async (error: unknown) => {
    await session.finish({ keep: false })
    throw error
  })
  const failureOf = () => ran.failure ?? (isStopped(ran) ? null : calls.failure())
  const keep = failureOf() === null && (ran.ending === 'exited' || ran.ending === 'over_turns')
  const report = await session.finish({ keep })
  // Only now is every call at its end.
  const outcome = withReport({ ...ran, failure: failureOf() }, report, request, behind, calls)
  for (const event of last) request.emit(event)
  return outcome
}

function run(request: BehindRequest, session: BehindSession | null): Promise<AgentOutcome> {
  const { driver, prompt, workspace, model, env, timeoutMs, maxTurns, signal, emit, transcript, hooks } =
    request
  return driver.run({
    prompt,
    workspace,
    model,
    env,
    timeoutMs,
    signal: session === null ? signal : AbortSignal.any([signal, session.stopped]),
    emit,
    transcript,
    ...capOf(request),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(hooks !== undefined && { hooks }),
    ...(session !== null && { endpoint: session.endpoint }),
  })
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
function capOf({ maxCostUsd, behind, meter }: BehindRequest): { readonly maxCostUsd?: number } {
  if (maxCostUsd === undefined) return {}
  if (behind === null) return { maxCostUsd }
  const { source, replay } = behind.model
  const isFree = replay === 'strict' || (source.kind === 'script' && meter !== 'always')
  return isFree ? {} : { maxCostUsd }
}

async function openSession(
  request: BehindRequest,
  behind: AgentBehind,
  calls: CallsSeen,
): Promise<BehindSession> {
  return openBehind(await behind.boundary(), behind.model, {
    places: { workspace: request.workspace, ...request.places },
    cassette: behind.cassette,
    redact: request.redact,
    facts: request.facts,
    prices: request.prices,
    onExchange: calls.see,
    ...capOf(request),
    ...(behind.faults !== null && { faults: behind.faults }),
  })
}

/** What passed the boundary tells what the agent did not: tokens, cost, and that a cassette no longer fits. */
function withReport(
  outcome: AgentOutcome,
  report: SessionReport,
  { emit }: BehindRequest,
  { model }: AgentBehind,
  calls: CallsSeen,
): AgentOutcome {
  if (outcome.tokens === null) {
    for (const { model, tokens, costUsd } of report.usage) {
      emit({
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
  { source, replay }: ModelBehind,
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
