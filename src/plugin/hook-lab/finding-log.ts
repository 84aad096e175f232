import type { HookComponent, PluginFinding } from '../analyze/contract.ts'
import { componentId } from '../component-list.ts'
import { canRefuse } from './event-effects.ts'
import texts from './finding-texts.json' with { type: 'json' }

export interface LabFinding {
  readonly code: HookFindingCode
  /** What was observed; appended to the text of the finding. */
  readonly detail: string
}

export interface FindingPlace {
  readonly group: HookComponent
  /** Index of the handler; null for the whole group. */
  readonly handler: number | null
}

export type FindingLog = ReturnType<typeof createFindingLog>

interface Entry {
  readonly place: FindingPlace
  readonly code: HookFindingCode
  readonly labels: string[]
  readonly details: string[]
}

/** Collects findings: one per code and handler, with all events that showed it. */
export function createFindingLog() {
  const entries = new Map<HookComponent, Map<string, Entry>>()
  return {
    note(place: FindingPlace, { code, detail }: LabFinding, label?: string): void {
      const ofGroup = entries.get(place.group) ?? new Map<string, Entry>()
      entries.set(place.group, ofGroup)
      const key = `${place.handler ?? 'all'} ${code}`
      const entry = ofGroup.get(key) ?? { place, code, labels: [], details: [] }
      ofGroup.set(key, entry)
      entry.details.push(detail)
      if (label !== undefined) entry.labels.push(label)
    },
    findings: () =>
      [...entries.values()]
        .flatMap((ofGroup) => [...ofGroup.values()])
        .map(findingOf)
        .toSorted(byPlace),
  }
}

function findingOf({ place: { group, handler }, code, labels, details }: Entry): PluginFinding {
  const { message, suggestion } = findingTexts[code]
  // The first event depends on the machine; the alphabetically first text does not.
  const [detail = ''] = details.toSorted()
  const raw = handler === null ? {} : (group.handlers[handler]?.raw ?? {})
  return {
    code,
    severity:
      code === 'HOOK_PROGRAM_MISSING' && !details.some((each) => each.includes('<plugin>'))
        ? 'warning' // What is not installed here may be installed for the users of the plugin.
        : severityOf(code, group.event, raw.onFailure === 'block'),
    message: `${message}${detail === '' ? '' : `: ${detail}`}`,
    suggestion,
    components: [componentId('hook', group.name)],
    path: group.path,
    ...(group.line !== undefined && { line: group.line }),
    detail: {
      ...(handler !== null && { handler }),
      ...(labels.length > 0 && { events: [...new Set(labels)].toSorted() }),
    },
  }
}

const ranks = { error: 0, warning: 1, info: 2 } as const

function byPlace(a: PluginFinding, b: PluginFinding): number {
  const key = ({ components, code, detail }: PluginFinding): string =>
    `${components.join()} ${code} ${String(detail?.handler ?? '')}`
  return ranks[a.severity] - ranks[b.severity] || (key(a) < key(b) ? -1 : 1)
}

interface FindingText {
  readonly severity: PluginFinding['severity']
  /** The finding's text, completed by the observation. */
  readonly message: string
  readonly suggestion: string
}

export type HookFindingCode = keyof typeof texts

export const findingTexts = texts as Readonly<Record<HookFindingCode, FindingText>>

/** The severity depends on the event: a failing guard is worse than a failing logger. */
function severityOf(
  code: HookFindingCode,
  event: string,
  blocksOnFailure: boolean,
): PluginFinding['severity'] {
  const { severity } = findingTexts[code]
  if (severity !== 'error') return severity
  const isFailure = /^HOOK_(?:HANGS|TIMES_OUT|PROGRAM_MISSING|NOT_EXECUTABLE|FAILS_OPEN)$/.test(code)
  const isLostText = ['HOOK_BROKEN_JSON', 'HOOK_TEXT_AROUND_JSON'].includes(code)
  if (isFailure && blocksOnFailure && canRefuse(event)) return 'warning'
  return isLostText && !canRefuse(event) ? 'warning' : 'error'
}
