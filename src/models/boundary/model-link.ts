import type { BoundaryScript } from './script/schema.ts'
import type { Upstream } from './upstream.ts'

/**
 * `off`: no cassette. `record`: every call goes to the model and is recorded. `strict`: every answer comes from the
 * cassette, and a call that it does not contain makes the trial invalid. `auto`: known calls are answered from the
 * cassette, the others are recorded.
 */
export const replayModes = ['off', 'auto', 'record', 'strict'] as const

export type ReplayMode = (typeof replayModes)[number]

/** How an agent reaches its model: the source of answers, and whether calls are recorded or replayed. */
export interface ModelLink {
  readonly source: ModelSource
  readonly replay: ReplayMode
}

export type ModelSource =
  | { readonly kind: 'script'; readonly script: BoundaryScript }
  /** The provider itself; its traffic is only counted, and broken where faults are configured. */
  | { readonly kind: 'provider'; readonly upstream: Upstream }

/** A script or a cassette answers every call: no provider is called, so the run costs nothing. */
export function isOffline({
  source,
  replay,
}: {
  readonly source: Pick<ModelSource, 'kind'>
  readonly replay: ReplayMode
}): boolean {
  return source.kind === 'script' || replay === 'strict'
}
