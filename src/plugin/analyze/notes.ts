import type { PluginFinding } from './contract.ts'
import { type FindingCode, findingCodes } from './finding-codes.ts'

export interface Remark {
  readonly message: string
  readonly suggestion: string
  /** Ids of components. */
  readonly components?: readonly string[]
  readonly path?: string
  readonly line?: number | undefined
  readonly severity?: PluginFinding['severity']
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Collects findings while a plugin is read. A step that finds a problem adds it and continues. */
export interface Notes {
  add(code: FindingCode, remark: Remark): void
  /** Sorted by severity, then by file and line. Duplicates are dropped. */
  findings(): readonly PluginFinding[]
}

export function createNotes(): Notes {
  const found = new Map<string, PluginFinding>()
  const counts = new Map<FindingCode, number>()
  return {
    add: (code, remark) => {
      const finding = findingOf(code, remark)
      const key = JSON.stringify([code, finding.path, finding.line, finding.message])
      if (found.has(key)) return
      const count = (counts.get(code) ?? 0) + 1
      counts.set(code, count)
      if (count <= mostOfOne) found.set(key, finding)
    },
    findings: () => {
      const more = [...counts].filter(([, count]) => count > mostOfOne)
      return [...found.values(), ...more.map(([code, count]) => leftOut(code, count - mostOfOne))].sort(
        byWeight,
      )
    },
  }
}

/** A plugin in which something is wrong a thousand times is not described any better by the second five hundred. */
const mostOfOne = 500

function leftOut(code: FindingCode, count: number): PluginFinding {
  const message = `${count} more findings of this kind are not shown`
  return findingOf(code, { message, suggestion: 'Fix the ones that are shown first.', severity: 'info' })
}

function findingOf(code: FindingCode, remark: Remark): PluginFinding {
  const { message, suggestion, components = [], path, line, severity, detail } = remark
  return {
    code,
    severity: severity ?? findingCodes[code].severity,
    message,
    suggestion,
    components,
    ...(path !== undefined && { path }),
    ...(line !== undefined && { line }),
    ...(detail !== undefined && { detail }),
  }
}

const weights = { error: 0, warning: 1, info: 2 } as const satisfies Record<PluginFinding['severity'], number>

function byWeight(a: PluginFinding, b: PluginFinding): number {
  return (
    weights[a.severity] - weights[b.severity] ||
    compareText(a.path ?? '', b.path ?? '') ||
    (a.line ?? 0) - (b.line ?? 0) ||
    compareText(a.code, b.code) ||
    compareText(a.message, b.message)
  )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
