import { type HookedAgent, hookCodecs } from '../../agents/hook-codecs.ts'
import type { HookPlace } from '../../agents/hook-installer.ts'
import { hookInstallerOf, hookTraitsOf, installableAgents } from '../../agents/hook-installers.ts'
import type { Project } from '../../config/load.ts'
import { GantryError } from '../../core/error.ts'
import { findAgentProgram } from '../../guard-install/choose-agents.ts'
import { findInstalls } from '../../guard-install/find-installs.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'

export interface ProofSubject {
  /** As requested: an agent of gantry.yaml, or a known agent. */
  readonly name: string
  readonly agent: HookedAgent
  readonly config: Readonly<Record<string, unknown>>
  /** Base of relative paths in the configuration. */
  readonly base: string
}

/** The agents that have our hooks installed here; if there are none, those on the PATH. */
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
  throw new GantryError('SPAWN_FAILED', 'no agent found to prove the guard in', {
    hint: 'Name one with --agent. If its program is not on the PATH, set it under agents: in gantry.yaml.',
  })
}

function isThere(agent: HookedAgent, project: Project, { env }: HookPlace): boolean {
  if (hookTraitsOf(agent).proof === null) return false
  return project.config.agents[agent] !== undefined || findAgentProgram(agent, env) !== null
}

/** Of its keys only the program is used. Other settings would make the result specific to this project. */
function subjectOf(name: string, { config, root }: Project): ProofSubject {
  const described = config.agents[name]
  const agent = installableAgents.find((one) => one === (described?.driver ?? name))
  if (agent === undefined) {
    const hint = `Use one of ${installableAgents.join(', ')}, or an agent of gantry.yaml based on one of them.`
    throw new GantryError('USAGE', `'${name}' is not an agent with hooks`, { hint })
  }
  const binary = described !== undefined && 'binary' in described ? described.binary : undefined
  return { name, agent, config: binary === undefined ? {} : { binary }, base: root }
}
