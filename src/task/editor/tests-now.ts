import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { TestInventory } from '../../rules/contract.ts'
import { lookAtTests } from '../../rules/tests/look-at-tests.ts'

/** The tests as they are, and how the steps of the verification are defined: an Editor could weaken either. */
export function testsNow(
  root: string,
  steps: readonly { readonly command: string }[],
): Promise<TestInventory> {
  return lookAtTests(
    root,
    steps.map(({ command }) => ({ command, kind: kindOfCommand(command) })),
  )
}
