import { join } from 'node:path'
import type { AgentDriver, AgentProbe } from '../../agents/contract.ts'
import { hookCodecs } from '../../agents/hook-codecs.ts'
import { agentSchema, createAgent } from '../../agents/index.ts'
import { GantryError } from '../../core/error.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { agentTraits } from './agent-traits.ts'
import type { ProofStage, StageOptions } from './contract.ts'
import { makeProject } from './make-project.ts'

/** Throws GantryError SPAWN_FAILED when the agent cannot be run. */
export async function openStage(options: StageOptions): Promise<ProofStage> {
  const { agent, scratch, signal } = options
  const traits = agentTraits(agent)
  if (traits === null)
    throw new GantryError(
      'SPAWN_FAILED',
      `${agent} cannot be run by a program, so nothing can be shown in it`,
      {
        hint: 'gantry guard status tells what is installed for it.',
      },
    )
  const driverWith = (more: Readonly<Record<string, unknown>>): AgentDriver =>
    createAgent(
      agent,
      agentSchema.parse({ ...traits.config, ...options.config, ...more, driver: agent, home: 'isolated' }),
      { base: options.base },
    )
  const probe = await probeIn(driverWith({}), options)
  if (!probe.found)
    throw new GantryError('SPAWN_FAILED', `${agent} cannot be run: ${probe.problem ?? 'it was not found'}`)
  let projects = 0
  return {
    agent,
    version: probe.version,
    capabilities: hookCodecs[agent].capabilities,
    traits,
    program: options.program,
    nowhere: join(scratch, 'nowhere'),
    project: (setup = {}) => {
      projects += 1
      return makeProject({
        ...options,
        setup,
        driverWith,
        directory: join(scratch, String(projects)),
        signal,
      })
    },
  }
}

function probeIn(driver: AgentDriver, { env, scratch, signal }: StageOptions): Promise<AgentProbe> {
  const home = join(scratch, 'home')
  return driver.probe({ env: hermeticEnv({ host: env, home, tmp: scratch }), signal })
}
