import type { AgentDriver, AgentOutcome, AgentRequest } from '../agents/contract.ts'
import type { AgentEvent, Untimed } from '../core/event.ts'
import type { Boundary } from '../models/boundary/contract.ts'
import type { FaultsConfig } from '../models/boundary/faults.ts'
import type { ModelLink } from '../models/boundary/model-link.ts'
import {
  type AgentDirectories,
  cassetteProblem,
  type LinkSession,
  openModelLink,
} from '../models/boundary/open-model-link.ts'
import type { PriceTable } from '../models/price-table.ts'
import { hasCostLimit } from './choose-model-link.ts'
import { type CallLog, createCallLog, finishLink } from './finish-link.ts'

export interface AgentLink {
  readonly model: ModelLink
  /** Shared by many agents, and opened on first use. */
  boundary(): Promise<Boundary>
  /** Absolute. */
  readonly cassette: string
  readonly faults: FaultsConfig | null
}

export interface LinkedRunRequest extends Omit<AgentRequest, 'endpoint'> {
  readonly driver: AgentDriver
  /** null when the agent calls its provider directly. */
  readonly modelLink: AgentLink | null
  readonly meter: 'auto' | 'always' | 'never'
  /** Directories of the agent besides its workspace. */
  readonly places: Omit<AgentDirectories, 'workspace'>
  readonly prices: PriceTable
  /** Written to the cassette: which agent was recorded. */
  readonly facts: Readonly<Record<string, string>>
  readonly redact: (text: string) => string
}

/** Runs the agent on the prompt, through its model link when it has one. */
export async function runLinkedAgent(request: LinkedRunRequest): Promise<AgentOutcome> {
  const { modelLink } = request
  if (modelLink === null) return run(request, null)
  const calls = createCallLog(modelLink.model, hasCostLimit(modelLink.model, request.meter), request.emit)
  const session = await openSession(request, modelLink, calls).catch(unusableCassette)
  if ('invalid' in session) return session
  // `complete` stays the last event of the agent, and the cost of its calls is known only when all of them have ended.
  const last: Untimed<AgentEvent>[] = []
  const ran = await run(
    { ...request, emit: (event) => (event.event === 'complete' ? last.push(event) : request.emit(event)) },
    session,
  ).catch(async (error: unknown) => {
    await session.finish({ keep: false })
    throw error
  })
  const { model } = modelLink
  const outcome = await finishLink(session, ran, {
    model,
    calls,
    emit: request.emit,
    unused: unusedLink(modelLink),
  })
  for (const event of last) request.emit(event)
  return outcome
}

/** Whether an agent calls a model at all is sometimes known only after it ran. */
function unusedLink({ faults, model: { replay } }: AgentLink): string | null {
  if (replay === 'off' && faults === null) return null
  const missed =
    faults !== null ? 'no fault was injected' : `nothing was ${replay === 'strict' ? 'replayed' : 'recorded'}`
  return `the agent sent no request to a model, so ${missed}: it must use the address that it gets, such as ANTHROPIC_BASE_URL`
}

function run(request: LinkedRunRequest, session: LinkSession | null): Promise<AgentOutcome> {
  const { driver, modelLink, meter, places, prices, facts, redact, maxCostUsd, raiseCostLimit, ...own } =
    request
  return driver.run({
    ...own,
    ...capOf(request),
    ...(session !== null && {
      endpoint: session.endpoint,
      signal: AbortSignal.any([own.signal, session.stopped]),
    }),
  })
}

/** Faults are injected into its calls on purpose, so a failed call is not retried. */
export function hasFaults({ faults, model: { source } }: Pick<AgentLink, 'faults' | 'model'>): boolean {
  return faults !== null || (source.kind === 'script' && source.script.faults !== undefined)
}

/** A missing or damaged cassette makes only its own case invalid. */
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

function capOf({
  maxCostUsd,
  raiseCostLimit,
  modelLink,
  meter,
}: LinkedRunRequest): Pick<LinkedRunRequest, 'maxCostUsd' | 'raiseCostLimit'> {
  if (maxCostUsd === undefined || (modelLink !== null && !hasCostLimit(modelLink.model, meter))) return {}
  return { maxCostUsd, ...(raiseCostLimit !== undefined && { raiseCostLimit }) }
}

async function openSession(
  request: LinkedRunRequest,
  modelLink: AgentLink,
  calls: CallLog,
): Promise<LinkSession> {
  return openModelLink(await modelLink.boundary(), modelLink.model, {
    places: { workspace: request.workspace, ...request.places },
    cassette: modelLink.cassette,
    redact: request.redact,
    facts: request.facts,
    prices: request.prices,
    onExchange: calls.add,
    ...capOf(request),
    ...(modelLink.faults !== null && { faults: modelLink.faults }),
  })
}
