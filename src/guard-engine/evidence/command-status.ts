import { type Evidence, evidenceStatus } from '../../core/evidence.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { DeclaredCommand, EvidenceHistory } from '../contract.ts'
import { printable } from '../printable.ts'

export interface CommandStatus {
  readonly declared: DeclaredCommand
  readonly kind: 'green' | 'red' | 'stale' | 'hollow' | 'missing'
  /** One sentence for a person or a model, without the command and without a full stop. */
  readonly text: string
  /** Red, and it is known what failed on the files of the start. */
  readonly isNew?: true
}

/**
 * What each part of a declared `a && b`, or of the script behind it, checks: it may be run in calls of its own. An installation checks nothing.
 */
export function partsOf({ script, ...declared }: DeclaredCommand): readonly DeclaredCommand[] {
  const parts = (script ?? declared.command).split('&&').map((part) => part.trim())
  if (parts.length === 1 || !parts.every((part) => plainPart.test(part))) return []
  return parts
    .filter((part) => !installation.test(part))
    .map((command) => ({ ...declared, command, kind: kindOfCommand(command) }))
}

const installation =
  /^(?:(?:npm|pnpm|yarn|bun)\s+(?:ci|i|install)\b|yarn$|(?:uv|poetry)\s+(?:sync|install)\b|(?:bundle|composer)\s+install\b|(?:python[\d.]*\s+-m\s+)?pip[\d.]*\s+install\b)/
const plainPart = /^(?!(?:cd|pushd|export|set|source|\.|exit|alias|eval|exec)\b)[\w./@-][\w ./@:=,+~-]*$/

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
  const parts = partsOf(declared).map((each) => commandStatus(each, history, tree))
  const open = parts.filter((part) => part.kind !== 'green')
  if (parts.length > 0 && open.length === 0) {
    const late = ranTooEarly(parts, history)
    const isSince = parts.every((part) => startOf(part, history) >= (record?.startedAt ?? ''))
    if (late !== null && kind !== 'red') return { declared, kind: 'stale', text: late }
    if (late === null && (kind !== 'red' || isSince))
      return { declared, kind: 'green', text: 'green in its parts for the current tree' }
  }
  const [part] = open.filter((each) => each.kind === 'red' || open.length < parts.length)
  if (part !== undefined && kind !== 'red')
    return { ...part, declared, text: `\`${part.declared.command}\` ${part.text}` }
  // A later run that does not count, perhaps on another tree, does not change how this one ended.
  if (rejected !== undefined && kind !== 'red')
    return { declared, kind: 'missing', text: `not counted: ${rejected}` }
  return { declared, kind, text: textOf(kind, record) }
}

/** What a build makes is not part of the tree, so a check behind it needs to run after it. */
function ranTooEarly(
  parts: readonly CommandStatus[],
  history: Pick<EvidenceHistory, 'byCommand'>,
): string | null {
  for (const [index, part] of parts.entries()) {
    const build = parts
      .slice(0, index)
      .find((each) => each.declared.kind === 'build' && startOf(each, history) > startOf(part, history))
    if (build !== undefined) return `\`${part.declared.command}\` ran before \`${build.declared.command}\``
  }
  return null
}

function startOf({ declared }: CommandStatus, { byCommand }: Pick<EvidenceHistory, 'byCommand'>): string {
  return byCommand[declared.command]?.startedAt ?? ''
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
function named({ failures = [], complaint }: Partial<Evidence> & { complaint?: string } = {}): string {
  if (failures.length === 0 && complaint !== undefined) return ` (${complaint})`
  const names = failures.slice(0, maxFailures).map((name) => JSON.stringify(printable(name, 100)))
  const more = failures.length - names.length
  return names.length === 0 ? '' : ` (${names.join(', ')}${more > 0 ? ` and ${more} more` : ''})`
}

const maxFailures = 4

function counted(record: Evidence | undefined): string {
  return record?.failed === undefined || record.failed === 0 ? '' : `, ${record.failed} failed`
}
