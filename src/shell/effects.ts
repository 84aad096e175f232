/** What a tool call would change, as far as it can be told before it happens. */
export interface CallTargets {
  /** Files it would make, change, replace or remove. Absolute; links are not resolved yet. */
  readonly writes: readonly WriteTarget[]
  /** Programs it would run, each with its words as far as they are known; null stands for one that is not. */
  readonly runs: readonly (readonly (string | null)[])[]
  /** What cannot be judged: a rule refuses it when its text names something protected. */
  readonly opaque: readonly OpaquePart[]
  /** Directories in which it makes files whose names it does not tell, such as those of an archive. */
  readonly into?: readonly FilledDirectory[]
}

export interface FilledDirectory {
  /** Absolute, with NUL for what is not known; links are not resolved yet. */
  readonly path: string
  readonly how: string
  /** As it stands in the call. */
  readonly written: string
}

export interface WriteTarget {
  readonly path: string
  /** As a person would say it: `redirects to it`, `sed -i`, `moves it away`. */
  readonly how: string
  /** The path as it stands in the call. */
  readonly written?: string
  /** The name itself is replaced or removed, not what a link at it leads to. */
  readonly entry?: boolean
  /** Everything that stands below `look` is changed at the same place below `path`; with `only`, no more than what it holds for. */
  readonly below?: { readonly look: string; readonly only?: (path: string) => boolean }
}

export interface OpaquePart {
  readonly text: string
  readonly why: string
  /** The text is one name, not a command. */
  readonly exact?: boolean
  /** The path that is written to, with NUL for what is not known. */
  readonly shape?: string
  /** The same as it stands in the call. */
  readonly written?: string
}
