import { type Evidence, evidenceStatus } from '../../core/evidence.ts'
import type { DeclaredCommand, EvidenceHistory } from '../contract.ts'
import { printable } from '../printable.ts'

export interface CommandStatus {
  readonly declared: DeclaredCommand
  readonly kind: 'green' | 'red' | 'stale' | 'hollow' | 'missing'
  /** One sentence for a person or a model, without the command and without a full stop. */
  readonly text: string
}

/** The status of one command for the current tree. */
export function commandStatus(
  declared: DeclaredCommand,
  history: Pick<EvidenceHistory, 'byCommand' | 'rejected'>,
  tree: string,
): CommandStatus {
  const { command } = declared
  const record = Object.hasOwn(history.byCommand, command) ? history.byCommand[command] : undefined
  const rejected = Object.hasOwn(history.rejected, command) ? history.rejected[command] : undefined
  const records = record === undefined ? [] : [record]
  const kind = evidenceStatus(records, { kind: record?.kind ?? declared.kind, treeHash: tree })
  if (kind === 'green') return { declared, kind, text: 'green for the current tree' }
  if (rejected !== undefined) return { declared, kind: 'missing', text: `not counted: ${rejected}` }
  return { declared, kind, text: textOf(kind, record) }
}

function textOf(kind: Exclude<CommandStatus['kind'], 'green'>, record: Evidence | undefined): string {
  switch (kind) {
    case 'missing':
      return 'not run'
    case 'stale':
      return `stale: the tree changed since it ran (it was ${wasGreen(record) ? 'green' : 'red'} then)`
    case 'red':
      return record?.exitCode === 0
        ? `failed: exit 0, but its output shows ${record.failed} failed`
        : `failed with exit ${record?.exitCode}${counted(record)}${named(record)}`
    case 'hollow':
      return record?.executed === 0
        ? 'proves nothing: it executed no tests'
        : `proves nothing: all ${record?.skipped} tests were skipped`
  }
}

function wasGreen(record: Evidence | undefined): boolean {
  return record !== undefined && evidenceStatus([record], record) === 'green'
}

/** The names, because the run may be one of the guard, which the agent has not seen. */
function named({ failures = [] }: Partial<Evidence> = {}): string {
  const names = failures.slice(0, maxFailures).map((name) => JSON.stringify(printable(name, 100)))
  const more = failures.length - names.length
  return names.length === 0 ? '' : ` (${names.join(', ')}${more > 0 ? ` and ${more} more` : ''})`
}

const maxFailures = 4

function counted(record: Evidence | undefined): string {
  return record?.failed === undefined || record.failed === 0 ? '' : `, ${record.failed} failed`
}
