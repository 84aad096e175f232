import type { Components } from '../../analyze/contract.ts'
import type { SetupMessage } from '../contract.ts'

/** One request that tries a hook. */
export interface HookPrompt {
  readonly suffix: string
  readonly prompt: string
  readonly fires: boolean
  readonly reasoning: string
  readonly files?: Readonly<Record<string, string>>
  /** Tools the request needs. */
  readonly tools?: readonly string[]
  readonly setup?: readonly SetupMessage[]
}

export type HookPrompts =
  | {
      readonly kind: 'requests'
      readonly requests: readonly HookPrompt[]
      readonly warnings?: readonly string[]
    }
  /** The event cannot happen in an unattended session. */
  | { readonly kind: 'skipped'; readonly reason: string }

/** Further conditions that decide whether an event can happen. */
export interface HookSurroundings {
  readonly components: Components
  /** Permissions are never requested. */
  readonly permissionBypass: boolean
  /** Tools the CLI reported; null: the CLI has not been started yet. */
  readonly cliTools: readonly string[] | null
  /** Tools that need no permission. */
  readonly allowedTools: readonly string[]
}

export function skipped(reason: string): HookPrompts {
  return { kind: 'skipped', reason }
}
