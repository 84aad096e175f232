import type { CliConfig } from './contract.ts'

/** One agent of the configuration. */
export interface CliInstance<Config extends CliConfig> {
  /** The user's own word for it. */
  readonly name: string
  readonly config: Config
  /** Absolute: where relative paths of the configuration start. */
  readonly base: string
}
