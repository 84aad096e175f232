import type { PluginFinding } from './contract.ts'
import codes from './finding-codes.json' with { type: 'json' }

interface CodeFacts {
  readonly severity: PluginFinding['severity']
  /** Also shown in the table of `docs/plugin-findings.md`. */
  readonly meaning: string
  /** What to do, unless a finding says it better. */
  readonly suggestion?: string
}

export type FindingCode = keyof typeof codes

/** All findings of the analysis. A finding may be reported as less severe than its code, never as more severe. */
export const findingCodes = codes as Readonly<Record<FindingCode, CodeFacts>>
