import type { ComponentType } from '../../contract.ts'
import type { Detection } from '../contract.ts'

/** What is expected, or nothing in particular. */
export interface Expected {
  readonly type: ComponentType
  readonly cli_name: string
}

/**
 * Of all that fired, what the expected component competed with. A hook fires by its event and takes nobody's place, so hooks are
 * rivals only of hooks, and only of those that wait for the same event: a Stop hook answers in every trial.
 */
export function rivalsOf(expected: Expected, others: readonly Detection[]): readonly Detection[] {
  return others.filter(({ component_type, cli_name }) => {
    if (component_type !== 'hook') return true
    return expected.type === 'hook' && eventOf(cli_name) === eventOf(expected.cli_name)
  })
}

/** The CLI's name of a hook begins with its event. */
function eventOf(cliName: string): string {
  const [event = ''] = cliName.split(':', 1)
  return event
}
