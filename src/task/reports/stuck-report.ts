import { join } from 'node:path'
import { counted } from '../../core/counted.ts'
import { readTextInside, removeTree, resolveInside, writeFileAtomic } from '../../io/files.ts'
import { agentDirectory, openAgentDirectory } from '../agent-directory.ts'
import { oneLine, quoted } from '../markdown-text.ts'
import { hypotheses, type StuckFacts } from './hypotheses.ts'

export const stuckReportName = 'stuck_report.md'
const stuckReportPath = `${agentDirectory}/${stuckReportName}`

/** The report of a task that failed, for the user and for a retry, which parses it with `readStuckReport`. */
export function stuckReport(facts: StuckFacts): string {
  const { description, task, at, attempts, filesModified, infrastructure, strategies, corrections } = facts
  const runs = attempts.flatMap(({ runId }) => (runId === null ? [] : [runId]))
  return `${[
    '# Stuck Report',
    section('Generated', at.toISOString()),
    section('Task', quoted(description)),
    section('Constraints', list(constraintsOf(task))),
    section('Status', statusOf(facts)),
    infrastructure === null
      ? null
      : section(
          'Infrastructure Error',
          list([
            `Source: ${infrastructure.source}`,
            `Message: ${infrastructure.message}`,
            `Advice: ${infrastructure.advice}`,
          ]),
        ),
    section(
      'Hypotheses',
      hypotheses(facts)
        .map(
          ({ title, text, investigation }, index) =>
            `${index + 1}. **${oneLine(title)}**\n   ${oneLine(text)}\n   Suggested investigation: ${oneLine(investigation)}`,
        )
        .join('\n'),
    ),
    section('Strategies Tried', list(strategies)),
    section(
      'Verification History',
      attempts.length === 0
        ? 'None.'
        : `| Attempt | Run | Status | Primary failure |\n|---|---|---|---|\n${attempts
            .map(({ attempt, runId, status, primaryFailure }) =>
              row([String(attempt), runId ?? 'no run', status, primaryFailure ?? '']),
            )
            .join('\n')}`,
    ),
    section('Artifact References', list(runs)),
    section('Files Modified', list(filesModified)),
    corrections.length === 0 ? null : section('Scout Corrections', list(corrections)),
  ]
    .filter((part) => part !== null)
    .join('\n\n')}\n`
}

/** Returns its path in the repository. */
export function writeStuckReport(root: string, text: string): string {
  writeFileAtomic(join(openAgentDirectory(root), stuckReportName), text)
  return stuckReportPath
}

/** Leaves that of another task. */
export function removeStuckReport(root: string, description: string): void {
  if (!isAbout(readStuckReport(root), description)) return
  const where = resolveInside(root, stuckReportPath)
  if (where.kind === 'inside') removeTree(where.path)
}

function section(title: string, body: string): string {
  return `## ${title}\n\n${body}`
}

function list(entries: readonly string[]): string {
  return entries.length === 0 ? 'None.' : entries.map((entry) => `- ${oneLine(entry)}`).join('\n')
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => oneLine(cell).replaceAll('|', '\\|')).join(' | ')} |`
}

function constraintsOf({ mustPreserve, nonGoals, boundaries }: StuckFacts['task']): readonly string[] {
  return [
    ...mustPreserve,
    ...nonGoals.map((text) => `[non-goal] ${text}`),
    ...boundaries.map((text) => `[boundary] ${text}`),
  ]
}

function statusOf({ status, attempts, infrastructure }: StuckFacts): string {
  if (status === 'INFRA_ERROR')
    return `INFRA_ERROR: ${oneLine(infrastructure?.message ?? 'the infrastructure failed')}, after ${counted(attempts.length, 'verification')}. The changes made so far are in the working tree.`
  return `STUCK: no success in ${counted(attempts.length, 'verification')}. The changes of the last attempt are in the working tree.`
}

/** What a retry knows about earlier attempts: only the report, no conversation and no snapshot. */
export interface StuckContext {
  readonly description: string
  readonly status: string
  /** Each with title, text and investigation, as in the report. */
  readonly hypotheses: readonly string[]
  readonly strategies: readonly string[]
  readonly runIds: readonly string[]
  /** The whole report, for prompts. */
  readonly text: string
}

const maxBytes = 1024 * 1024

/** null when there is no report, or it does not name the task. The user may have edited it. */
export function readStuckReport(root: string, path: string = stuckReportPath): StuckContext | null {
  const found = readTextInside(root, path, { maxBytes })
  if (found.kind !== 'text') return null
  const sections = sectionsOf(found.text)
  const description = unquoted(sections.get('task') ?? '')
  if (description === '') return null
  const listed = (title: string): readonly string[] => entriesOf(sections.get(title) ?? '')
  return {
    description,
    status: sections.get('status') ?? '',
    hypotheses: numberedIn(sections.get('hypotheses') ?? ''),
    strategies: listed('strategies tried'),
    runIds: listed('artifact references').filter((id) => /^run_\d{8}_\d{6}_[a-z0-9]{6}$/.test(id)),
    text: found.text,
  }
}

export function isAbout(report: StuckContext | null, description: string): boolean {
  const normal = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
  return report !== null && normal(report.description) === normal(description)
}

function sectionsOf(text: string): ReadonlyMap<string, string> {
  const parts = text.split(/^## +(.+?)\s*$/m)
  const sections = new Map<string, string>()
  for (let index = 1; index < parts.length; index += 2)
    sections.set((parts[index] ?? '').toLowerCase(), (parts[index + 1] ?? '').trim())
  return sections
}

function unquoted(body: string): string {
  return body
    .split(/\r?\n/)
    .map((line) => line.replace(/^> ?/, ''))
    .join('\n')
    .trim()
}

function entriesOf(body: string): readonly string[] {
  return body.split(/\r?\n/).flatMap((line) => {
    const entry = /^- (.+)$/.exec(line)?.[1]?.trim()
    return entry === undefined ? [] : [entry]
  })
}

function numberedIn(body: string): readonly string[] {
  return body
    .split(/^\d+\. /m)
    .slice(1)
    .map((entry) => entry.replaceAll(/\s+/g, ' ').replaceAll('**', '').trim())
}
