import { GantryError } from '../core/error.ts'
import { provePerson } from './unlock/prove-person.ts'
import type { PersonsNote } from './unlock/unlock.ts'

export interface WaiveRequest extends PersonsNote {
  readonly reason: string
  /** Of the tree as it is now: the one evidence is bound to. */
  fingerprint(): Promise<string>
}

/** Lets the work be called done without evidence, for the tree exactly as it is now and with a reason that is kept. */
export async function waive(request: WaiveRequest): Promise<{ readonly tree: string; readonly by: string }> {
  const why = request.reason.trim()
  if (why === '') {
    throw new GantryError('USAGE', 'a waiver needs a reason', { hint: 'Say why with --reason TEXT.' })
  }
  const tree = await request.fingerprint()
  const about = `The files of ${request.root}, as they are now, count as done without evidence: ${why}`
  const by = await provePerson({ ...request, about })
  if ((await request.fingerprint()) !== tree) {
    throw new GantryError('USAGE', 'the files changed while you were asked, so nothing was waived', {
      hint: 'Wait until the agent rests, and try again.',
    })
  }
  request.append({ kind: 'waived', tree, by, why })
  return { tree, by }
}
