import { type HookedAgent, hookCodecs } from '../../agents/hook-codecs.ts'
import type { HookPlace } from '../../agents/hook-installer.ts'
import { hookInstallerOf, hookTraitsOf, installableAgents } from '../../agents/hook-installers.ts'
import type { Project } from '../../config/load.ts'
import { GantryError } from '../../core/error.ts'
import { findAgentProgram } from '../../guard-install/choose-agents.ts'
import { findInstalls } from '../../guard-install/find-installs.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'

export interface ProofSubject {
  /** As it was asked for: an agent of gantry.yaml, or the agent itself. */
  readonly name: string
  readonly agent: HookedAgent
  readonly config: Readonly<Record<string, unknown>>
  /** Where relative paths of the configuration start. */
  readonly base: string
}

/** The agents whose hooks are ours here; if there are none, those that are on the PATH. */
export function chooseSubjects(
  names: readonly string[],
  {
    project,
    place,
    program,
  }: { readonly project: Project; readonly place: HookPlace; readonly program: HookProgram },
): readonly ProofSubject[] {
  if (names.length > 0) return names.map((name) => subjectOf(name, project))
  const held = installableAgents.filter(
    (agent) => findInstalls(agent, hookInstallerOf(agent, hookCodecs[agent]), { place, program }).length > 0,
  )
  const found = held.length > 0 ? held : installableAgents.filter((agent) => isThere(agent, project, place))
  if (found.length > 0) return found.map((agent) => subjectOf(agent, project))
  throw new GantryError('SPAWN_FAILED', 'there is no agent to show anything in', {
    hint: 'Name one with --agent, and its program under agents: in gantry.yaml when it is not on the PATH.',
  })
}

function isThere(agent: HookedAgent, project: Project, { env }: HookPlace): boolean {
  if (hookTraitsOf(agent).proof === null) return false
  return project.config.agents[agent] !== undefined || findAgentProgram(agent, env) !== null
}

/** Of its keys only the program counts: whatever else a person has set would make it another agent than in the next project. */
function subjectOf(name: string, { config, root }: Project): ProofSubject {
  const described = config.agents[name]
  const agent = installableAgents.find((one) => one === (described?.driver ?? name))
  if (agent === undefined) {
    const hint = `Write one of ${installableAgents.join(', ')}, or an agent of gantry.yaml that is one of them.`
    throw new GantryError('USAGE', `'${name}' is no agent that has hooks`, { hint })
  }
  const binary = described !== undefined && 'binary' in described ? described.binary : undefined
  return { name, agent, config: binary === undefined ? {} : { binary }, base: root }
}
