import type { AgentOutcome } from '../agents/contract.ts'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import type { AgentEvent, Untimed } from '../core/event.ts'
import {
  type AgentDirectories,
  cassetteProblem,
  type LinkSession,
  openModelLink,
} from '../models/boundary/open-model-link.ts'
import type { PriceTable } from '../models/price-table.ts'
import { hasCostLimit } from './choose-model-link.ts'
import { type CallLog, createCallLog, finishLink } from './finish-link.ts'
import type { AgentLink } from './run-linked-agent.ts'

export interface LiveLinkOptions {
  readonly modelLink: Omit<AgentLink, 'cassette'>
  readonly meter: ResolvedAgent['meter']
  /** Of the live agent; the same for all its parts. */
  readonly places: AgentDirectories
  readonly prices: PriceTable
  readonly redact: (text: string) => string
}

/** One prompt of the live agent. */
export interface LinkPart {
  /** Absolute. */
  readonly cassette: string
  /** Written to the cassette: which agent was recorded. */
  readonly facts: Readonly<Record<string, string>>
  readonly emit: (event: Untimed<AgentEvent>) => void
  readonly maxCostUsd?: number
  readonly raiseCostLimit?: (neededUsd: number) => number | null
}

export interface EndedPart {
  readonly outcome: AgentOutcome
  /** A strict replay received a call that is not in its cassette. */
  readonly needsRecording: boolean
  /** The wait that the provider's last refusal requested; null when it gave no time. */
  readonly retryAfterMs: number | null
}

/** The model link of an agent that stays alive between the parts of its work. Each part has its own cassette, cost limit and cost. */
export type LiveLink = Awaited<ReturnType<typeof openLiveLink>>

export type OpenedPart =
  | { readonly kind: 'ready' }
  /** The cassette is missing or damaged; a new recording would fix it. */
  | { readonly kind: 'unusable'; readonly problem: string }

export async function openLiveLink(options: LiveLinkOptions) {
  const { modelLink, meter, places, prices, redact } = options
  const { model, faults } = modelLink
  const line = (await modelLink.boundary()).openLine()
  const needsCassette = model.replay === 'strict'
  let open: (Pick<LinkPart, 'emit'> & { readonly session: LinkSession; readonly calls: CallLog }) | null =
    null
  return {
    endpoint: line.endpoint,
    /** Calls from now on belong to this part. One part at a time. */
    begin({ cassette, facts, emit, maxCostUsd, raiseCostLimit }: LinkPart): OpenedPart {
      const calls = createCallLog(model, hasCostLimit(model, meter), emit)
      try {
        const session = openModelLink(line, model, {
          places,
          cassette,
          redact,
          facts,
          prices,
          onExchange: calls.add,
          ...(maxCostUsd !== undefined && hasCostLimit(model, meter) && { maxCostUsd, raiseCostLimit }),
          ...(faults !== null && { faults }),
        })
        open = { session, calls, emit }
        return { kind: 'ready' }
      } catch (error) {
        return { kind: 'unusable', problem: cassetteProblem(error) }
      }
    },
    /** Ends the part: the outcome, completed with what the boundary saw. */
    async end(ran: AgentOutcome): Promise<EndedPart> {
      if (open === null) throw new Error('no part was begun')
      const { session, calls, emit } = open
      open = null
      const joined = await finishLink(session, withEnding(ran, session), { model, calls, emit })
      const isOffTape = session.stopped.reason === 'mismatch'
      const isBeyondLimit = isOffTape && ran.ending === 'over_turns'
      return {
        outcome: isBeyondLimit ? asItRan(joined, ran) : joined,
        needsRecording: needsCassette && isOffTape && !isBeyondLimit,
        retryAfterMs: calls.retryAfterMs(),
      }
    },
    /** Abandons the open part, if there is one. */
    async close(): Promise<void> {
      await open?.session.finish({ keep: false })
      open = null
      await line.close()
    },
  }
}

/** A live agent continues when its calls are refused, and reports the refusal as a failure of its provider. */
function withEnding(ran: AgentOutcome, { stopped }: LinkSession): AgentOutcome {
  if (!stopped.aborted) return ran
  return stopped.reason === 'over_budget'
    ? { ...ran, ending: 'over_budget', failure: null }
    : { ...ran, failure: null }
}

/** At its turn limit an agent may have sent one more call before it was stopped. The recording does not need that call. */
function asItRan({ invalid: _, ...joined }: AgentOutcome, { invalid }: AgentOutcome): AgentOutcome {
  return invalid === undefined ? joined : { ...joined, invalid }
}
