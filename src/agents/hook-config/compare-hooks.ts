import { isObject } from '../../core/json-fields.ts'
/** One of our entries in the list of an event. */
export interface FoundHook {
  readonly event: string
  readonly entry: unknown
}

/** How what is registered differs from what should be, as sentences; none when it is the same in any order. */
export function compareHooks(found: readonly FoundHook[], wanted: readonly FoundHook[]): readonly string[] {
  const left = found.map((hook) => ({ ...hook, text: canonical(hook.entry) }))
  const missing = wanted.filter((hook) => {
    const at = left.findIndex(({ event, text }) => event === hook.event && text === canonical(hook.entry))
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
  const differing = missing.map(({ event, entry }) => {
    const at = left.findIndex((hook) => hook.event === event)
    const [old] = at === -1 ? [] : left.splice(at, 1)
    return old === undefined ? `${event} is not registered` : `${event}: ${difference(old.entry, entry)}`
  })
  return [...differing, ...left.map(({ event }) => `${event} is registered once too often`)]
}

/** The first field that differs, by its name. */
function difference(old: unknown, wanted: unknown): string {
  const [before, after] = [fieldsOf(old), fieldsOf(wanted)]
  const name = [...new Set([...before.keys(), ...after.keys()])].find(
    (key) => before.get(key) !== after.get(key),
  )
  const shown = (value: string | undefined): string => value ?? 'nothing'
  return name === undefined
    ? 'it is written otherwise'
    : `${name} is ${shown(before.get(name))} instead of ${shown(after.get(name))}`
}

/** Leaves by their last names; a path of names would not help a person more. */
function fieldsOf(value: unknown, name = ''): Map<string, string> {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return new Map([[name, value.join(' ')]])
  if (typeof value !== 'object' || value === null) return new Map([[name, String(value)]])
  return new Map(
    Object.entries(value).flatMap(([key, field]) => [...fieldsOf(field, Array.isArray(value) ? name : key)]),
  )
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) =>
    isObject(field) ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1))) : field,
  )
}
