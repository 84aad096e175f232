import type { AgentOutcome } from '../agents/contract.ts'
import { addTokens } from '../core/add-tokens.ts'
import type { AgentEvent, Untimed } from '../core/event.ts'
import type { BehindSession, ModelBehind } from '../models/boundary/behind.ts'
import type { SessionReport } from '../models/boundary/contract.ts'
import type { CallsSeen } from './calls-seen.ts'

export interface BehindFacts {
  readonly model: ModelBehind
  readonly calls: CallsSeen
  readonly emit: (event: Untimed<AgentEvent>) => void
}

/**
 * Ends what stood behind an agent that has done its work, and keeps what is worth keeping of it. What passed the boundary tells
 * what the agent did not: tokens, cost, and that a cassette no longer fits.
 */
export async function finishBehind(
  session: BehindSession,
  ran: AgentOutcome,
  { model, calls, emit }: BehindFacts,
): Promise<AgentOutcome> {
  const failureOf = () => ran.failure ?? (isStopped(ran) ? null : calls.failure())
  const keep = failureOf() === null && (ran.ending === 'exited' || ran.ending === 'over_turns')
  const report = await session.finish({ keep })
  // Only now is every call at its end.
  const outcome = { ...ran, failure: failureOf() }
  if (outcome.tokens === null) for (const event of usageEvents(report)) emit(event)
  const invalid = report.problem ?? outcome.invalid
  return {
    ...outcome,
    costUsd: billOf(outcome, report, model, calls),
    tokens: outcome.tokens ?? totalOf(report),
    ...(invalid !== undefined && { invalid }),
  }
}

/** By us: what it would have done next is not known. */
function isStopped({ ending }: AgentOutcome): boolean {
  return ending !== 'exited' && ending !== 'crashed'
}

function usageEvents({ usage }: SessionReport): readonly Untimed<AgentEvent>[] {
  return usage.map(({ model, tokens, costUsd }) => ({
    event: 'usage',
    model,
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cache_read_tokens: tokens.cacheRead,
    cache_write_tokens: tokens.cacheWrite,
    ...(tokens.thinking !== undefined && { thinking_tokens: tokens.thinking }),
    ...(costUsd !== null && { cost_usd: costUsd }),
  }))
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
