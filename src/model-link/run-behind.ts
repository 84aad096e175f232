import type { AgentDriver, AgentOutcome, AgentRequest } from '../agents/contract.ts'
import type { AgentEvent, Untimed } from '../core/event.ts'
import {
  type BehindPlace,
  type BehindSession,
  type ModelBehind,
  openBehind,
} from '../models/boundary/behind.ts'
import type { Boundary } from '../models/boundary/contract.ts'
import type { FaultsConfig } from '../models/boundary/faults.ts'
import type { PriceTable } from '../models/pricing.ts'
import { type CallsSeen, callsSeen } from './calls-seen.ts'
import { cassetteProblem } from './cassette-problem.ts'
import { finishBehind } from './finish-behind.ts'
import { isFree } from './is-free.ts'

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
  const outcome = await finishBehind(session, ran, { model: behind.model, calls, emit: request.emit })
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

/** A cassette that is missing or damaged breaks its case and no other. */
function unusableCassette(error: unknown): AgentOutcome & { readonly invalid: string } {
  return {
    ending: 'not_started',
    exitCode: null,
    finalText: null,
    costUsd: 0,
    tokens: null,
    failure: null,
    invalid: cassetteProblem(error),
  }
}

/** What costs nothing can reach no cap. */
function capOf({ maxCostUsd, behind, meter }: BehindRequest): { readonly maxCostUsd?: number } {
  if (maxCostUsd === undefined || (behind !== null && isFree(behind.model, meter))) return {}
  return { maxCostUsd }
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
