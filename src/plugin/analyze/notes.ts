import { defined } from '../../core/json-fields.ts'
import { componentId } from '../component-list.ts'
import type { ComponentType } from '../contract.ts'
import type { PluginFinding } from './contract.ts'
import { type FindingCode, findingCodes } from './finding-codes.ts'

export interface Remark extends Pick<PluginFinding, 'message' | 'path' | 'detail'> {
  /** Default: that of the code. */
  readonly suggestion?: string
  readonly components?: readonly string[]
  readonly line?: number | undefined
  readonly severity?: PluginFinding['severity'] | undefined
  /** Claude Code loads nothing of the plugin because of this. */
  readonly unloads?: boolean
}

export type Notes = ReturnType<typeof createNotes>

/** The part of a remark that says which component it is about. */
export function about(
  type: ComponentType,
  { name, path, line }: { readonly name: string; readonly path: string; readonly line?: number },
): Pick<Remark, 'components' | 'path' | 'line'> {
  return { components: [componentId(type, name)], path, line }
}

/** Collects findings while a plugin is read. A step that finds a problem adds it and continues. */
export function createNotes() {
  const found = new Map<string, PluginFinding>()
  const counts = new Map<FindingCode, number>()
  return {
    add: (code: FindingCode, remark: Remark): void => {
      const finding = findingOf(code, remark)
      const key = JSON.stringify([code, finding.path, finding.line, finding.message])
      if (found.has(key)) return
      const count = (counts.get(code) ?? 0) + 1
      counts.set(code, count)
      if (count <= mostOfOne) found.set(key, finding)
    },
    /** What keeps the plugin from loading comes first, then by severity, file and line. Duplicates are dropped. */
    findings: (): readonly PluginFinding[] => {
      const more = [...counts].filter(([, count]) => count > mostOfOne)
      return [...found.values(), ...more.map(([code, count]) => leftOut(code, count - mostOfOne))].sort(
        byWeight,
      )
    },
  }
}

/** More findings of the same kind would not help. */
const mostOfOne = 500

function leftOut(code: FindingCode, count: number): PluginFinding {
  const message = `${count} more findings of this kind are not shown`
  return findingOf(code, { message, suggestion: 'Fix the ones that are shown first.', severity: 'info' })
}

function findingOf(code: FindingCode, remark: Remark): PluginFinding {
  const facts = findingCodes[code]
  const { message, suggestion = facts.suggestion ?? '', components = [], path, line, unloads } = remark
  const detail = unloads === true ? { ...remark.detail, unloads_plugin: true } : remark.detail
  return {
    code,
    severity: remark.severity ?? facts.severity,
    message,
    suggestion,
    components,
    ...defined({ path, line, detail }),
  }
}

/** Whether Claude Code loads nothing of the plugin because of the finding. */
export function unloadsPlugin({ detail }: Pick<PluginFinding, 'detail'>): boolean {
  return detail?.unloads_plugin === true
}

const weights = { error: 0, warning: 1, info: 2 } as const satisfies Record<PluginFinding['severity'], number>

function byWeight(a: PluginFinding, b: PluginFinding): number {
  return (
    Number(unloadsPlugin(b)) - Number(unloadsPlugin(a)) ||
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
