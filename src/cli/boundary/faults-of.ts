import { GantryError } from '../../core/error.ts'
import type { FaultsConfig } from '../../models/boundary/faults.ts'
import type { ModelSource } from '../../models/boundary/model-link.ts'
import { parseFault } from '../../models/boundary/parse-fault.ts'
import type { BoundaryFlags } from './boundary-flags.ts'

/** The faults of the flags, else those of the script; a seed given by flag wins over the script's. */
export function faultsOf({ fault, seed }: BoundaryFlags, source: ModelSource): FaultsConfig | undefined {
  if (fault !== undefined) return { faults: fault.map(parseFault), seed: seed ?? 0 }
  const scripted = source.kind === 'script' ? source.script.faults : undefined
  if (seed === undefined) return scripted
  if (scripted === undefined)
    throw new GantryError('USAGE', '--seed without a fault means nothing', {
      hint: 'Give a --fault with a probability too, such as 529%20.',
    })
  return { ...scripted, seed }
}
