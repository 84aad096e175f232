import { join } from 'node:path'
import { counted } from '../../core/counted.ts'
import { readTextInside } from '../../io/files.ts'
import type { Manifest, Store } from '../../store/contract.ts'
import { readManifestState } from '../../store/manifest.ts'
import { runIds } from '../../store/run-id.ts'
import { runFile } from '../../store/run-paths.ts'
import { oneLine, quoted } from '../markdown-text.ts'
import { hypotheses, type StuckFacts } from './hypotheses.ts'

export const stuckReportName = 'stuck_report.md'

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

/** Runs of earlier attempts at the same task that are not resolved yet, the newest first. */
export function stuckRuns(store: Store, repository: string, description: string): readonly Manifest[] {
  const normal = (text: unknown): string => String(text).replaceAll(/\s+/g, ' ').trim()
  return runIds(store)
    .flatMap(({ id }) => {
      const state = readManifestState(join(store.runsDir, id))
      return state.kind === 'whole' ? [state.manifest] : []
    })
    .filter(
      ({ kind, flags, details }) =>
        kind === 'task' &&
        flags.stuck &&
        details.repository === repository &&
        normal(details.description) === normal(description),
    )
    .sort((a, b) => (a.timestamp_start < b.timestamp_start ? 1 : -1))
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

function statusOf(facts: StuckFacts): string {
  const { status, attempts, infrastructure, filesModified, here, taskId } = facts
  const count = counted(attempts.length, 'verification')
  const what =
    status === 'INFRA_ERROR'
      ? `INFRA_ERROR: ${oneLine(infrastructure?.message ?? 'the infrastructure failed')}, after ${count}.`
      : `STUCK: no success in ${count}.`
  if (filesModified.length === 0) return what
  return here
    ? `${what} The changes so far are in your tree.`
    : `${what} Your tree is as you left it. See the changes so far with: gantry task show ${taskId} --diff`
}

/** What a retry knows about earlier attempts: only the report, no conversation and no snapshot. */
export type StuckContext = NonNullable<ReturnType<typeof readStuckReport>>

const maxBytes = 1024 * 1024

/** null when the run has no report, or it does not name the task. The user may have edited it. */
export function readStuckReport(store: Pick<Store, 'runsDir'>, runId: string) {
  const found = readTextInside(runFile.reports(join(store.runsDir, runId)), stuckReportName, { maxBytes })
  if (found.kind !== 'text') return null
  const sections = sectionsOf(found.text)
  const description = unquoted(sections.get('task') ?? '')
  if (description === '') return null
  const listed = (title: string): readonly string[] => entriesOf(sections.get(title) ?? '')
  return {
    description,
    status: sections.get('status') ?? '',
    /** Each with title, text and investigation, as in the report. */
    hypotheses: numberedIn(sections.get('hypotheses') ?? ''),
    strategies: listed('strategies tried'),
    runIds: listed('artifact references').filter((id) => /^run_\d{8}_\d{6}_[a-z0-9]{6}$/.test(id)),
    /** The whole report, for prompts. */
    text: found.text,
  }
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
