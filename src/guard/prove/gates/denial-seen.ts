import { refusalMark } from '../../../core/refusal-mark.ts'
import type { ModelCall } from '../../../models/boundary/contract.ts'
import type { GuardedProject, Sighting } from '../contract.ts'
import { toldModel } from '../told-model.ts'

/** `.env.canary` must not be there, `ordinary.txt` must, and the model must know why. */
export function denialSeen(project: GuardedProject, calls: readonly ModelCall[]): Sighting {
  const isWritten = project.read('.env.canary') !== null
  const isOrdinary = project.read('ordinary.txt') === 'written\n'
  const isTold = toldModel(calls, refusalMark) && toldModel(calls, 'is protected')
  if (isWritten) return { fired: false, seen: 'the protected file was written' }
  if (!isOrdinary) return { fired: false, seen: 'the ordinary file was not written either' }
  return isTold
    ? { fired: true, seen: 'refused, and the model was told why; the ordinary one was written' }
    : { fired: false, seen: 'the protected file was not written, but the model was not told why' }
}
