import type { Execution } from '../../execute/contract.ts'
import type { Detection } from '../contract.ts'
import { detectionOf } from './detection-of.ts'
import type { KnownComponents } from './known-components.ts'
import { commandComponent } from './tool-component.ts'

/** Commands, and skills a person can call, by the CLI's own word that it expanded them. What we typed proves nothing. */
export function detectFromExpansions({ expansions, trial }: Execution, known: KnownComponents): Detection[] {
  return expansions.flatMap(({ command_name, timestamp }) => {
    const component = commandComponent(command_name, known, trial.arm)
    if (component === null) return []
    const evidence = `the CLI expanded /${component.cli_name}`
    return [detectionOf(component, { source: 'expansion', evidence, timestamp })]
  })
}
