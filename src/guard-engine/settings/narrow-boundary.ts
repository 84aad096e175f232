import { isInside } from '../seal/own-match.ts'
import type { SettingValues } from './setting-table.ts'

type Values = Partial<SettingValues>

export interface NarrowedBoundary {
  readonly values: Values
  /** null when it can hold. */
  readonly problem: string | null
}

/** The boundary of the person, and what comes with the project only ever narrows it. */
export function narrowBoundary(person: Values, project: Values): NarrowedBoundary {
  const inner = narrowPackage(person['boundary.package'] ?? '', project['boundary.package'] ?? '')
  const refused = [...(person['boundary.refused'] ?? []), ...(project['boundary.refused'] ?? [])]
  const readsOnly = [person, project].some((values) => values['boundary.git'] === 'read')
  return {
    values: {
      ...((person['boundary.enabled'] || project['boundary.enabled']) && { 'boundary.enabled': true }),
      ...(inner !== null && { 'boundary.package': inner }),
      'boundary.root': person['boundary.root'] ?? '',
      'boundary.also': person['boundary.also'] ?? [],
      'boundary.refused': [...new Set(refused)],
      'boundary.git': readsOnly ? 'read' : 'all',
    },
    problem:
      inner === null
        ? `boundary.package: '${project['boundary.package']}' of the project is not in '${person['boundary.package']}', which the person set, nor around it`
        : null,
  }
}

/** The smaller of two when one is in the other; null when nothing is in both. */
function narrowPackage(person: string, project: string): string | null {
  if (person === '' || project === '') return person || project
  const [outer, inner] = [person, project].map((path) => `/${path.split('/').filter(isStep).join('/')}`)
  if (outer === undefined || inner === undefined || isInside(inner, outer)) return project
  return isInside(outer, inner) ? person : null
}

function isStep(part: string): boolean {
  return part !== '' && part !== '.'
}
