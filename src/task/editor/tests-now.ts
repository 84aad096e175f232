import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { TestInventory } from '../../guard-engine/contract.ts'
import { lookAtTests } from '../../guard-engine/tests/look-at-tests.ts'

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
