import { realPath } from '../../io/real-path.ts'
import { createBudget } from '../budget.ts'
import type { PriceTable } from '../pricing.ts'
import { openCassette } from './cassette/open-cassette.ts'
import type { Places } from './cassette/places.ts'
import type { Boundary, ExchangeFacts, ModelEndpoint, Responder, SessionReport } from './contract.ts'
import { createFaultPlan, type FaultsConfig } from './faults.ts'
import type { ReplayMode } from './replay-mode.ts'
import { createScriptResponder } from './script/responder.ts'
import type { BoundaryScript } from './script/schema.ts'
import { createUpstreamResponder, type Upstream } from './upstream.ts'

/** What stands behind an agent: its model, or what answers in the model's place, and whether that is recorded or replayed. */
export interface ModelBehind {
  readonly source: ModelSource
  readonly replay: ReplayMode
}

export type ModelSource =
  | { readonly kind: 'script'; readonly script: BoundaryScript }
  /** The provider itself; its traffic is only counted, and broken where faults are asked for. */
  | { readonly kind: 'provider'; readonly upstream: Upstream }

export interface BehindPlace {
  readonly workspace: string
  readonly home: string
  readonly tmp: string
  /** A directory the agent reads from and that lies elsewhere on another machine, such as that of a plugin. */
  readonly project?: string
}

export interface BehindOptions {
  readonly places: BehindPlace
  /** Directory of the cassette. */
  readonly cassette: string
  readonly redact: (text: string) => string
  /** Told in the cassette: who was recorded. */
  readonly facts: Readonly<Record<string, string>>
  /** Of this trial. */
  readonly maxCostUsd?: number
  readonly prices: PriceTable
  readonly faults?: FaultsConfig
  readonly onExchange?: (exchange: ExchangeFacts) => void
}

export interface BehindSession {
  readonly endpoint: ModelEndpoint
  /** Aborted when there is no point in going on; see `BoundarySession.stopped`. */
  readonly stopped: AbortSignal
  /** After the agent is gone. A recording is kept only of work that came to its end: an older one is worth more than half of one. */
  finish(end: { readonly keep: boolean }): Promise<SessionReport>
}

/** A session of the boundary, or of a line of it, with the right model behind it. */
export function openBehind(
  boundary: Pick<Boundary, 'open'>,
  behind: ModelBehind,
  options: BehindOptions,
): BehindSession {
  const { responder, finish } = answering(behind, options)
  const { source } = behind
  const faults = options.faults ?? (source.kind === 'script' ? source.script.faults : undefined)
  const session = boundary.open({
    responder,
    budget: createBudget(options.maxCostUsd ?? null),
    prices: options.prices,
    ...(faults !== undefined && { faults: createFaultPlan(faults) }),
    ...(options.onExchange !== undefined && { onExchange: options.onExchange }),
  })
  return {
    endpoint: session.endpoint,
    stopped: session.stopped,
    finish: async ({ keep }) => {
      await session.close()
      const report = session.report()
      finish(keep && report.problem === null)
      return report
    },
  }
}

function answering(
  { source, replay }: ModelBehind,
  { places, cassette, redact, facts }: BehindOptions,
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

/** An agent may name a directory as it was told, or as the system resolves it. */
function spellings(places: BehindPlace): Places {
  const both = (path: string): readonly string[] => [...new Set([path, realPath(path)])]
  return Object.fromEntries(Object.entries(places).map(([name, path]) => [name, both(path)]))
}
