import { join } from 'node:path'
import type { HookedAgent } from '../agents/hook-codecs.ts'
import type { HookPlace } from '../agents/hook-installer.ts'
import { hookTraitsOf, installableAgents } from '../agents/hook-installers.ts'
import { findProgram } from '../io/find-program.ts'
import { pathKind } from '../io/path-kind.ts'

export interface ChosenAgent {
  readonly agent: HookedAgent
  readonly because: string
}

/** Agents that are on the machine or have settings in the project. */
export function chooseAgents(place: HookPlace): readonly ChosenAgent[] {
  return installableAgents.flatMap((agent) => {
    const program = findAgentProgram(agent, place.env)
    if (program !== null) return [{ agent, because: `${program} exists` }]
    const trace = hookTraitsOf(agent).projectMarks.find((name) => pathKind(join(place.root, name)) !== null)
    return trace === undefined ? [] : [{ agent, because: `the project has ${trace}` }]
  })
}

/** Absolute path; null when it is not on the PATH. */
export function findAgentProgram(agent: HookedAgent, env: HookPlace['env']): string | null {
  for (const name of hookTraitsOf(agent).executables) {
    const found = findProgram(name, env.PATH ?? '')
    if (found !== null) return found
  }
  return null
}
