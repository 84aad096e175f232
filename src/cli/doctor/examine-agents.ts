import { resolve } from 'node:path'
import type { AgentProbe } from '../../agents/contract.ts'
import { type AgentConfig, bareAgents, createAgent } from '../../agents/index.ts'
import type { Project } from '../../config/load.ts'
import { modelOpener } from '../../config/model-opener.ts'
import { GantryError } from '../../core/error.ts'
import { expandVariables } from '../../core/expand.ts'
import { readYaml } from '../../io/yaml.ts'
import { lackingAccess } from '../../model-link/choose-model-link.ts'
import { boundaryScriptSchema } from '../../models/boundary/script/schema.ts'

export interface DoctorFinding {
  readonly area: 'gantry' | 'agents' | 'models' | 'sandboxes'
  readonly name: string
  /** `lacking`: it works only partly. `missing`: not usable. */
  readonly status: 'ok' | 'lacking' | 'missing'
  readonly detail: string
  /** The command that would fix it. */
  readonly fix?: string
}

export interface ExamineContext {
  readonly project: Project
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Agents of gantry.yaml by name, then every other agent Gantry knows. */
export async function examineAgents(context: ExamineContext): Promise<readonly DoctorFinding[]> {
  const described = Object.entries(context.project.config.agents)
  const bare = Object.entries(bareAgents()).filter(
    ([name]) => !described.some(([own, { driver }]) => own === name || driver === name),
  )
  return Promise.all([...described, ...bare].map(([name, config]) => examineAgent(name, config, context)))
}

async function examineAgent(
  name: string,
  config: AgentConfig,
  context: ExamineContext,
): Promise<DoctorFinding> {
  const { project, env, signal } = context
  try {
    const driver = createAgent(name, config, { base: project.root, openModel: modelOpener(project) })
    const own = ownVariables(config, env)
    const probe = await driver.probe({ env: { ...env, ...own.values }, signal })
    const home = 'home' in config ? config.home : 'isolated'
    const isScripted = 'model_script' in config && config.model_script !== undefined
    const access =
      isScripted || !probe.found || probe.problem !== undefined
        ? null
        : lackingAccess({ driver, probe, home })
    const lacks = [
      ...own.missing.map((variable) => `the variable ${variable} is not set`),
      ...scriptProblem(config, project),
      ...(access === null ? [] : [`no model access: set ${access}`]),
    ]
    return findingOf(name === driver.name ? name : `${name} (${driver.name})`, probe, lacks)
  } catch (error) {
    // A problem with one agent is a finding and must not stop the examination.
    if (!(error instanceof GantryError)) throw error
    return { area: 'agents', name: `${name} (${config.driver})`, status: 'missing', detail: error.message }
  }
}

function ownVariables(config: AgentConfig, env: ExamineContext['env']) {
  const expanded = Object.entries('env' in config ? config.env : {}).map(
    ([name, value]) => [name, expandVariables(value, env)] as const,
  )
  return {
    values: Object.fromEntries(expanded.map(([name, { text }]) => [name, text])),
    missing: expanded.flatMap(([, { missing }]) => missing),
  }
}

function scriptProblem(config: AgentConfig, project: Project): readonly string[] {
  if (!('model_script' in config) || config.model_script === undefined) return []
  try {
    readYaml(resolve(project.root, config.model_script), boundaryScriptSchema)
    return []
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return [error.message]
  }
}

function findingOf(name: string, probe: AgentProbe, lacks: readonly string[]): DoctorFinding {
  const { found, version, path, fix } = probe
  // The fix is shown separately, so that it can be copied.
  const problem = probe.problem?.replace(`; install it with: ${fix}`, '')
  const known = found || version !== null ? [[version ?? 'no version', path].filter(Boolean).join(', ')] : []
  const problems = [...(problem === undefined ? [] : [problem]), ...lacks]
  return {
    area: 'agents',
    name,
    status: !found ? 'missing' : problems.length > 0 ? 'lacking' : 'ok',
    detail: [...known, ...problems].join('; ') || 'not found',
    ...(fix !== undefined && { fix }),
  }
}
