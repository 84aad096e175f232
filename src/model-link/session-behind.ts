import type { AgentOutcome } from '../agents/contract.ts'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import type { AgentEvent, Untimed } from '../core/event.ts'
import { type BehindPlace, type BehindSession, openBehind } from '../models/boundary/behind.ts'
import type { ModelEndpoint } from '../models/boundary/contract.ts'
import type { PriceTable } from '../models/pricing.ts'
import { type CallsSeen, callsSeen } from './calls-seen.ts'
import { cassetteProblem } from './cassette-problem.ts'
import { finishBehind } from './finish-behind.ts'
import { isFree } from './is-free.ts'
import type { AgentBehind } from './run-behind.ts'

export interface SessionBehindOptions {
  readonly behind: Omit<AgentBehind, 'cassette'>
  readonly meter: ResolvedAgent['meter']
  /** Of the live agent: the same for all its parts. */
  readonly places: BehindPlace
  readonly prices: PriceTable
  readonly redact: (text: string) => string
}

/** One thing the live agent is asked to do. */
export interface BehindPart {
  /** Absolute. */
  readonly cassette: string
  /** Told in the cassette: who was recorded. */
  readonly facts: Readonly<Record<string, string>>
  readonly maxCostUsd?: number
}

export interface EndedPart {
  readonly outcome: AgentOutcome
  /** A strict replay met a call that its cassette does not know. */
  readonly needsRecording: boolean
  /** How long the provider's last refusal asked to wait; null when it did not say. */
  readonly retryAfterMs: number | null
}

/** What stands behind an agent that lives on while one part of its work follows the other, each with a cassette, a cap and a bill of its own. */
export interface SessionBehind {
  readonly endpoint: ModelEndpoint
  /** What is asked from now on belongs to this part. One at a time. */
  begin(part: BehindPart): BegunPart
  /** The part is done: the outcome, joined with what passed the boundary. */
  end(ran: AgentOutcome, emit: (event: Untimed<AgentEvent>) => void): Promise<EndedPart>
  /** Gives up the part that was begun, if any. */
  close(): Promise<void>
}

export type BegunPart =
  | { readonly kind: 'ready' }
  /** Nothing may be asked: the cassette is missing or damaged, and a recording would mend it. */
  | { readonly kind: 'unusable'; readonly problem: string }

export async function openSessionBehind(options: SessionBehindOptions): Promise<SessionBehind> {
  const { behind, meter, places, prices, redact } = options
  const { model, faults } = behind
  const line = (await behind.boundary()).openLine()
  const needsCassette = model.replay === 'strict'
  let open: { readonly session: BehindSession; readonly calls: CallsSeen } | null = null
  return {
    endpoint: line.endpoint,
    begin({ cassette, facts, maxCostUsd }) {
      const calls = callsSeen(model)
      try {
        const session = openBehind(line, model, {
          places,
          cassette,
          redact,
          facts,
          prices,
          onExchange: calls.see,
          ...(maxCostUsd !== undefined && !isFree(model, meter) && { maxCostUsd }),
          ...(faults !== null && { faults }),
        })
        open = { session, calls }
        return { kind: 'ready' }
      } catch (error) {
        return { kind: 'unusable', problem: cassetteProblem(error) }
      }
    },
    async end(ran, emit) {
      if (open === null) throw new Error('no part was begun')
      const { session, calls } = open
      open = null
      const joined = await finishBehind(session, withEnding(ran, session), { model, calls, emit })
      const isOffTape = session.stopped.reason === 'mismatch'
      const isBeyondLimit = isOffTape && ran.ending === 'over_turns'
      return {
        outcome: isBeyondLimit ? asItRan(joined, ran) : joined,
        needsRecording: needsCassette && isOffTape && !isBeyondLimit,
        retryAfterMs: calls.retryAfterMs(),
      }
    },
    async close() {
      await open?.session.finish({ keep: false })
      open = null
      await line.close()
    },
  }
}

/** A live agent is not ended when its calls are refused: it takes the refusal for a failure of its provider. */
function withEnding(ran: AgentOutcome, { stopped }: BehindSession): AgentOutcome {
  if (!stopped.aborted) return ran
  return stopped.reason === 'over_budget'
    ? { ...ran, ending: 'over_budget', failure: null }
    : { ...ran, failure: null }
}

/** At its limit of turns an agent may have asked once more before it was stopped; no recording need have that call. */
function asItRan({ invalid: _, ...joined }: AgentOutcome, { invalid }: AgentOutcome): AgentOutcome {
  return invalid === undefined ? joined : { ...joined, invalid }
}
