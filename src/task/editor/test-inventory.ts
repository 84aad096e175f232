import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { TestInventory } from '../../guard-engine/contract.ts'
import { lookAtTests } from '../../guard-engine/tests/look-at-tests.ts'
import { looksLikeTest } from '../../guard-engine/tests/test-files.ts'
import { isSource } from './sample-conventions.ts'

/** The tests as they are, and how the steps of the verification are defined: an Editor could weaken either. */
export function testInventory(
  root: string,
  steps: readonly { readonly command: string }[],
): Promise<TestInventory> {
  return lookAtTests(
    root,
    steps.map(({ command }) => ({ command, kind: kindOfCommand(command) })),
  )
}

/** Source files that changed although no test did; empty when a test came along or no behaviour changed. */
export function missingTests(
  changed: readonly string[],
  before: TestInventory,
  after: TestInventory,
): readonly string[] {
  const hasTest = changed.some((path) => {
    const is = Object.hasOwn(after.files, path) ? after.files[path] : undefined
    const was = Object.hasOwn(before.files, path) ? before.files[path] : undefined
    if (is === undefined) return false
    return is.hash !== was?.hash && (is.cases > 0 || looksLikeTest(path))
  })
  if (hasTest) return []
  return changed.filter(
    (path) =>
      isSource(path) && !looksLikeTest(path) && !/(?:^|\/)[^/]*\.(?:config|d)\.[cm]?[jt]s$/.test(path),
  )
}
