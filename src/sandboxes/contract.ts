/** Whether a sandbox engine can be used here, and what it takes if not. */
export interface EngineProbe {
  readonly engine: 'docker' | 'bubblewrap'
  readonly usable: boolean
  /** Its version when it is usable, else why it is not. */
  readonly detail: string
  /** The command that would mend it. */
  readonly fix?: string
}

export interface EngineContext {
  readonly env: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}
