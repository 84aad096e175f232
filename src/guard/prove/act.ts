import { GantryError } from '../../core/error.ts'
import type { GuardedProject, Performance, PlayOptions } from './contract.ts'

/** Plays the script to its end. Whatever kept the agent from it says nothing about the guard, and throws. */
export async function act(
  project: GuardedProject,
  script: object,
  options?: PlayOptions,
): Promise<Performance> {
  const performance = await actOrStayMute(project, script, options)
  if (performance.calls.length > 0) return performance
  throw notPlayed('it ended without a call to its model')
}

/** The same for an agent that may also end well without asking its model anything. */
export async function actOrStayMute(
  project: GuardedProject,
  script: object,
  options?: PlayOptions,
): Promise<Performance> {
  const performance = await project.play(script, options)
  const { ending, failure } = performance.outcome
  if (ending === 'cancelled') throw new GantryError('INTERRUPTED', 'the proof was interrupted')
  if (ending === 'exited' && failure === null) return performance
  throw notPlayed(failure?.message ?? ending)
}

function notPlayed(why: string): GantryError {
  return new GantryError('SPAWN_FAILED', `the agent did not play its part: ${why}`)
}
