import type { Sought } from './sought-command.ts'

/** A declared command met in a script. */
export interface FoundRun {
  readonly sought: Sought
  /** Why the end of the call says nothing about it; null when the success of the call is its success. */
  readonly why: RunDoubt | null
  /** A time limit of the shell stands before it. */
  readonly limited: boolean
}

export interface RunDoubt {
  /** `other`: something else ran than the declared command. The rest: it ran, but its end is hidden or means something else. */
  readonly kind: 'masked' | 'background' | 'conditional' | 'changed' | 'directory' | 'unreadable' | 'other'
  /** One sentence without its full stop; the command is its subject. */
  readonly text: string
}
