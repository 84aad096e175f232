import { GantryError } from '../../core/error.ts'
import type { ModelCall } from '../../models/boundary/contract.ts'
import { act } from './act.ts'
import type { CompactionTrick } from './agent-traits.ts'
import type { GuardedProject } from './contract.ts'

/** A piece of work, a compaction of it, and a piece of work after that: what the model was asked in all of it. */
export async function compactHistory(
  project: GuardedProject,
  trick: CompactionTrick,
): Promise<readonly ModelCall[]> {
  const look = { calls: [{ run: 'cat note.txt' }] }
  const done = { text: 'Done.' }
  if (trick.kind === 'full_context') {
    const full = { ...look, usage: { input_tokens: trick.inputTokens } }
    const script = { pick: 'sequence', turns: [full, look, done] }
    return (await act(project, script, { config: trick.config })).calls
  }
  const first = await act(project, { turns: [look, done] })
  if (first.session === null)
    throw new GantryError('SPAWN_FAILED', 'the agent does not tell which session to go on with')
  const config = trick.goOn(first.session)
  const second = await act(project, { turns: [done] }, { prompt: trick.prompt, config })
  const third = await act(project, { pick: 'sequence', turns: [look, done] }, { prompt: 'Go on.', config })
  return [first, second, third].flatMap(({ calls }) => calls)
}
