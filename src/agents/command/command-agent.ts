import type { CommandAgentConfig } from './schema.ts'

/** One agent of the configuration. */
export interface CommandAgent {
  /** The user's own word for it. */
  readonly name: string
  readonly config: CommandAgentConfig
  /** Absolute: where relative paths of the configuration start. */
  readonly base: string
}
