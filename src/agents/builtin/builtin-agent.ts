import type { ModelEndpoint } from '../../models/boundary/contract.ts'
import type { Model } from '../../models/contract.ts'
import type { BuiltinAgentConfig } from './schema.ts'

/** One agent of the configuration. */
export interface BuiltinAgent {
  /** The user's own word for it. */
  readonly name: string
  readonly config: BuiltinAgentConfig
  readonly openModel: OpenModel
}

/**
 * How the agent gets its model; whoever composes it passes this. `default` leaves the choice to the keys that are set. Throws
 * GantryError when there is no access; sends nothing.
 */
export type OpenModel = (
  name: string,
  options: {
    readonly env: Readonly<Record<string, string>>
    readonly endpoint?: ModelEndpoint
    /** A call that would pass it is refused. */
    readonly maxCostUsd?: number
  },
) => Promise<Model>
