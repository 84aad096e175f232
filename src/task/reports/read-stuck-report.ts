import { readTextInside } from '../../io/files.ts'
import { stuckReportPath } from './stuck-report.ts'

/** What a retry knows of the attempts before: the report alone, no older conversation and no snapshot. */
export interface StuckContext {
  readonly description: string
  readonly constraints: readonly string[]
  readonly status: string
  readonly isInfrastructure: boolean
  /** As they are in the report: title, text, investigation. */
  readonly hypotheses: readonly string[]
  readonly strategies: readonly string[]
  readonly runIds: readonly string[]
  readonly filesModified: readonly string[]
  /** The whole report, for prompts. */
  readonly text: string
}

const maxBytes = 1024 * 1024

/** null when there is no report, or it is none that says what the task was. People may have edited it. */
export function readStuckReport(root: string): StuckContext | null {
  const found = readTextInside(root, stuckReportPath, { maxBytes })
  if (found.kind !== 'text') return null
  const sections = sectionsOf(found.text)
  const description = unquoted(sections.get('task') ?? '')
  if (description === '') return null
  const listed = (title: string): readonly string[] => entriesOf(sections.get(title) ?? '')
  return {
    description,
    constraints: listed('constraints'),
    status: sections.get('status') ?? '',
    isInfrastructure: sections.has('infrastructure error'),
    hypotheses: numberedIn(sections.get('hypotheses') ?? ''),
    strategies: listed('strategies tried'),
    runIds: listed('artifact references').filter((id) => /^run_\d{8}_\d{6}_[a-z0-9]{6}$/.test(id)),
    filesModified: listed('files modified'),
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
