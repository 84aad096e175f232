import { GantryError } from '../../core/error.ts'
import { realPath } from '../../io/resolve-links.ts'
import { createBudget } from '../budget.ts'
import type { PriceTable } from '../price-table.ts'
import { openCassette } from './cassette/open-cassette.ts'
import type { RecordedDirectories } from './cassette/recorded-directories.ts'
import type { Boundary, ExchangeFacts, Responder, SessionReport } from './contract.ts'
import { createFaultPlan, type FaultsConfig } from './faults.ts'
import type { ModelLink } from './model-link.ts'
import { createScriptResponder } from './script/responder.ts'
import { createUpstreamResponder } from './upstream.ts'

export interface AgentDirectories {
  readonly workspace: string
  readonly home: string
  readonly tmp: string
  /** A directory that the agent reads and whose path depends on the machine, such as that of a plugin. */
  readonly project?: string
}

export interface ModelLinkOptions {
  readonly places: AgentDirectories
  readonly cassette: string
  readonly redact: (text: string) => string
  /** Written to the cassette: which agent was recorded. */
  readonly facts: Readonly<Record<string, string>>
  readonly maxCostUsd?: number
  /** Asked with what all calls need; returns the limit that applies now. */
  readonly raiseCostLimit?: ((neededUsd: number) => number | null) | undefined
  readonly prices: PriceTable
  readonly faults?: FaultsConfig
  readonly onExchange?: (exchange: ExchangeFacts) => void
}

export type LinkSession = ReturnType<typeof openModelLink>

/** A session of the boundary, or of one of its lines, that answers from the source of the link. */
export function openModelLink(
  boundary: Pick<Boundary, 'open'>,
  modelLink: ModelLink,
  options: ModelLinkOptions,
) {
  const { responder, finish } = answering(modelLink, options)
  const { source } = modelLink
  const faults = options.faults ?? (source.kind === 'script' ? source.script.faults : undefined)
  const session = boundary.open({
    responder,
    budget: createBudget(options.maxCostUsd ?? null, 0, options.raiseCostLimit),
    prices: options.prices,
    ...(faults !== undefined && { faults: createFaultPlan(faults) }),
    ...(options.onExchange !== undefined && { onExchange: options.onExchange }),
  })
  return {
    endpoint: session.endpoint,
    /** Aborted when continuing is pointless; see `BoundarySession.stopped`. */
    stopped: session.stopped,
    /** Must be called after the agent has ended. Only a complete recording is kept: an older one is worth more than half a new one. */
    finish: async ({ keep }: { readonly keep: boolean }): Promise<SessionReport> => {
      await session.close()
      const report = session.report()
      finish(keep && report.problem === null)
      return report
    },
  }
}

function answering(
  { source, replay }: ModelLink,
  { places, cassette, redact, facts }: ModelLinkOptions,
): { readonly responder: Responder; finish(keep: boolean): void } {
  const responder = (): Responder =>
    source.kind === 'script'
      ? createScriptResponder(source.script, places)
      : createUpstreamResponder(source.upstream)
  if (replay === 'off') return { responder: responder(), finish: () => {} }
  const tape = openCassette({
    dir: cassette,
    mode: replay,
    places: spellings(places),
    upstream: replay === 'strict' ? null : responder(),
    redact,
    facts,
  })
  return { responder: tape.responder, finish: (keep) => (keep ? tape.finish() : tape.abandon()) }
}

/** An agent may write a directory as given, or as the system resolves it. */
function spellings(places: AgentDirectories): RecordedDirectories {
  const both = (path: string): readonly string[] => [...new Set([path, realPath(path)])]
  return Object.fromEntries(Object.entries(places).map(([name, path]) => [name, both(path)]))
}

/** Why a cassette cannot be used. A missing or damaged one makes only its own case invalid; any other error is rethrown. */
export function cassetteProblem(error: unknown): string {
  if (
    !(error instanceof GantryError) ||
    !['NOT_FOUND', 'INVALID_FILE', 'CORRUPT', 'USAGE'].includes(error.code)
  )
    throw error
  return [error.message, error.hint].filter(Boolean).join('. ')
}
