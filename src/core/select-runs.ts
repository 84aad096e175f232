/** What a list of runs shows of each. */
interface RunFacts {
  readonly id: string
  readonly title: string
  readonly kind: string
  readonly status: string
  readonly startedAt: string
  readonly live: boolean
}

export interface RunSelection {
  readonly kind?: string | undefined
  readonly status?: string | undefined
  /** In the id or the title. */
  readonly text?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** The runs that a person asked for, live ones first. */
export function selectRuns<T extends RunFacts>(
  runs: readonly T[],
  { kind, status, text, since, until }: RunSelection,
): T[] {
  const words = text?.toLowerCase()
  return runs
    .filter(
      (run) =>
        (kind === undefined || run.kind === kind) &&
        (status === undefined || run.status === status) &&
        (words === undefined || `${run.id}\n${run.title}`.toLowerCase().includes(words)) &&
        (since === undefined || run.startedAt >= since) &&
        (until === undefined || run.startedAt <= until),
    )
    .sort((a, b) => Number(b.live) - Number(a.live))
}
