import { counted } from '../../core/counted.ts'
import { shorten } from '../../core/shorten.ts'
import type { TestFileFacts, TestInventory } from '../contract.ts'
import { provesNothing } from '../evidence/proves-nothing.ts'

/** What became weaker between two looks at the tests, one sentence each; the same weakening has the same sentence. */
export function weakenings(before: TestInventory | null, after: TestInventory | null): readonly string[] {
  if (before === null || after === null) return []
  return [...weakerFiles(before, after), ...changedDefinitions(before, after)]
}

function weakerFiles(before: TestInventory, after: TestInventory): readonly string[] {
  const appeared = new Set(
    Object.entries(after.files)
      .filter(([path]) => !Object.hasOwn(before.files, path))
      .map(([, { hash }]) => hash),
  )
  return Object.entries(before.files).flatMap(([path, was]) => {
    const is = Object.hasOwn(after.files, path) ? after.files[path] : undefined
    if (is !== undefined) return weaker(path, was, is)
    // The same content under another name was moved, not deleted.
    if (was.cases === 0 || appeared.has(was.hash)) return []
    return [`${shown(path)} with ${counted(was.cases, 'test')} was deleted`]
  })
}

function weaker(path: string, was: TestFileFacts, is: TestFileFacts): readonly string[] {
  if (was.hash === is.hash) return []
  const name = shown(path)
  const found: string[] = []
  if (is.cases < was.cases) found.push(`${name} has ${counted(is.cases, 'test')}, before it had ${was.cases}`)
  if (is.skipped > was.skipped)
    found.push(`${name} has ${counted(is.skipped, 'skipped or narrowed test')}, before it had ${was.skipped}`)
  if (is.assertions < was.assertions)
    found.push(`${name} has ${counted(is.assertions, 'assertion')}, before it had ${was.assertions}`)
  return found
}

function changedDefinitions(before: TestInventory, after: TestInventory): readonly string[] {
  return Object.entries(before.definitions).flatMap(([command, was]) => {
    const is = Object.hasOwn(after.definitions, command) ? after.definitions[command] : undefined
    if (is === was || (was === '' && isFirst(command, is ?? ''))) return []
    const now = is === undefined || is === '' ? 'it is no longer defined' : `now: ${shown(is)}`
    const then = was === '' ? 'nothing in the project' : shown(was)
    return [`the definition of ${shown(command)} changed; before: ${then}; ${now}`]
  })
}

/**
 * The script, target or file without which the command could not run at all; not what only configures it, and none that
 * succeeds on anything.
 */
function isFirst(command: string, definition: string): boolean {
  return definition.split('\n').some((line) => {
    const file = /^(\S+) \([\da-f]{12}\)$/.exec(line)?.[1]
    if (file !== undefined) return command.includes(file)
    return !/^\.npmrc: |^pnpm-workspace\.yaml: /.test(line) && provesNothing(line) === null
  })
}

/** Text of the repository, quoted as data. */
function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return JSON.stringify(shorten(line, 160))
}
