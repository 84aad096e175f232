import { join } from 'node:path'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { TestInventory } from '../../guard-engine/contract.ts'
import { commandDefinition } from '../../guard-engine/tests/command-definition.ts'
import { inspectTests } from '../../guard-engine/tests/inspect-tests.ts'
import { isTestFile } from '../../guard-engine/tests/test-files.ts'
import { isSource } from './sample-conventions.ts'

/** The tests and the definition of the verification steps. An Editor could weaken either. */
export async function testInventory(
  root: string,
  steps: readonly { readonly command: string }[],
): Promise<TestInventory> {
  const found = await inspectTests(
    root,
    steps.map(({ command }) => ({ command, kind: kindOfCommand(command) })),
  )
  const parts = steps.flatMap(({ command }) => partsOf(command))
  const definitions = parts.map(({ directory, command }) => {
    const name = directory === '' ? command : `cd ${directory} && ${command}`
    return [name, commandDefinition(join(root, directory), command, kindOfCommand(command)) ?? ''] as const
  })
  // A test file that a step starts itself is counted like the others, so it may grow.
  const isCounted = (line: string): boolean => {
    const path = line.slice(0, line.indexOf(' ('))
    return Object.hasOwn(found.files, path) && (found.files[path]?.assertions ?? 0) > 0
  }
  const all = Object.entries({ ...Object.fromEntries(definitions), ...found.definitions })
  const own = all.map(([command, text]) => [
    command,
    text
      .split('\n')
      .filter((line) => !isCounted(line))
      .join('\n'),
  ])
  return { ...found, definitions: Object.fromEntries(own) }
}

/** The commands of a step with several, each with its directory: `npm ci && cd web && CI=1 npm test`. */
function partsOf(step: string): readonly { readonly directory: string; readonly command: string }[] {
  let directory = ''
  return step.split(/&&|\|\||[;\n]/).flatMap((part) => {
    const command = part
      .trim()
      .replace(/^(?:(?:exec|time|env)\s+|\w+=\S*\s+)+/, '')
      .replace(/\s+\|.*$/, '')
    const into = /^cd\s+["']?([\w./-]+)["']?$/.exec(command)?.[1]
    if (into !== undefined) directory = join(directory, into)
    const inner = /^(npm|yarn|pnpm|make|bun)\s+(?:--prefix|--cwd|-C|--dir)[ =](\S+)\s+(.+)$/.exec(command)
    if (into !== undefined || command === '' || directory.startsWith('..') || directory.startsWith('/'))
      return []
    return inner === null
      ? [{ directory, command }]
      : [{ directory: join(directory, inner[2] ?? ''), command: `${inner[1]} ${inner[3]}` }]
  })
}

/** Changed source files; empty when a test changed too or no behaviour changed. */
export function missingTests(
  changed: readonly string[],
  before: TestInventory,
  after: TestInventory,
): readonly string[] {
  const hasTest = changed.some((path) => {
    const is = Object.hasOwn(after.files, path) ? after.files[path] : undefined
    const was = Object.hasOwn(before.files, path) ? before.files[path] : undefined
    if (is === undefined) return false
    return is.hash !== was?.hash && (is.cases > 0 || isTestFile(path))
  })
  if (hasTest) return []
  return changed.filter(
    (path) => isSource(path) && !isTestFile(path) && !/(?:^|\/)[^/]*\.(?:config|d)\.[cm]?[jt]s$/.test(path),
  )
}
