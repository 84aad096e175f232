import type { HookComponent, PluginFinding } from '../analyze/contract.ts'
import { componentId } from '../component-list.ts'
import type { HookFindingCode, Noticed } from './contract.ts'
import { findingTexts, severityOf } from './finding-texts.ts'

/** Where something was noticed. */
export interface FindingPlace {
  readonly group: HookComponent
  /** Of the handler; null for the group as a whole. */
  readonly handler: number | null
}

/** Gathers what was noticed: the same of the same handler once, with all the events that showed it. */
export interface FindingLog {
  note(place: FindingPlace, noticed: Noticed, label?: string): void
  findings(): readonly PluginFinding[]
}

interface Entry {
  readonly place: FindingPlace
  readonly code: HookFindingCode
  readonly labels: string[]
  readonly details: string[]
}

export function createFindingLog(): FindingLog {
  const entries = new Map<HookComponent, Map<string, Entry>>()
  return {
    note(place, { code, detail }, label) {
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
  // Which event comes first depends on the machine; which text comes first in the alphabet does not.
  const [detail = ''] = details.toSorted()
  const raw = handler === null ? {} : (group.handlers[handler]?.raw ?? {})
  return {
    code,
    severity: severityOf(code, group.event, raw.onFailure === 'block'),
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
