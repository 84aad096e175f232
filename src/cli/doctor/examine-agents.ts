import { resolve } from 'node:path'
import type { AgentProbe } from '../../agents/contract.ts'
import { type AgentConfig, bareAgents, createAgent } from '../../agents/index.ts'
import type { Project } from '../../config/load.ts'
import { modelOpener } from '../../config/model-opener.ts'
import { GantryError } from '../../core/error.ts'
import { expandVariables } from '../../core/expand.ts'
import { readYaml } from '../../io/yaml.ts'
import { boundaryScriptSchema } from '../../models/boundary/script/schema.ts'

/** One thing doctor looked at. */
export interface DoctorFinding {
  readonly area: 'gantry' | 'agents' | 'models' | 'sandboxes'
  readonly name: string
  /** `lacking`: it works less well, or only some uses of it do. `missing`: not usable. */
  readonly status: 'ok' | 'lacking' | 'missing'
  readonly detail: string
  /** The command that would fix it. */
  readonly fix?: string
}

export interface LookContext {
  readonly project: Project
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Agents of gantry.yaml by their names, then every agent Gantry knows that is not among them. */
export async function lookAtAgents(context: LookContext): Promise<readonly DoctorFinding[]> {
  const described = Object.entries(context.project.config.agents)
  const bare = Object.entries(bareAgents()).filter(
    ([name]) => !described.some(([own, { driver }]) => own === name || driver === name),
  )
  return Promise.all([...described, ...bare].map(([name, config]) => lookAtAgent(name, config, context)))
}

async function lookAtAgent(name: string, config: AgentConfig, context: LookContext): Promise<DoctorFinding> {
  const { project, env, signal } = context
  try {
    const driver = createAgent(name, config, { base: project.root, openModel: modelOpener(project) })
    const own = ownVariables(config, env)
    const probe = await driver.probe({ env: { ...env, ...own.values }, signal })
    const credentials = driver.modelAccess?.credentials ?? []
    const lacks = [
      ...own.missing.map((variable) => `the variable ${variable} is not set`),
      ...scriptProblem(config, project),
      ...(isLockedOut(config, probe, hasAny({ ...env, ...own.values }, credentials))
        ? [`no model access: set ${credentials.slice(0, 2).join(' or ')}`]
        : []),
    ]
    return findingOf(name === driver.name ? name : `${name} (${driver.name})`, probe, lacks)
  } catch (error) {
    // What is wrong with one agent is a finding, and no reason not to look at the others.
    if (!(error instanceof GantryError)) throw error
    return { area: 'agents', name: `${name} (${config.driver})`, status: 'missing', detail: error.message }
  }
}

function ownVariables(
  config: AgentConfig,
  env: LookContext['env'],
): { readonly values: Readonly<Record<string, string>>; readonly missing: readonly string[] } {
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

/** With a script it needs no key, and with the caller's HOME it may have a login of its own. */
function isLockedOut(
  config: AgentConfig,
  { found, authenticated, problem }: AgentProbe,
  hasCredential: boolean | null,
): boolean {
  if (!found || problem !== undefined || authenticated === true) return false
  if ('model_script' in config && config.model_script !== undefined) return false
  if ('home' in config && config.home === 'host') return false
  return authenticated === false || hasCredential === false
}

/** null when there is none to have. */
function hasAny(env: LookContext['env'], names: readonly string[]): boolean | null {
  return names.length === 0 ? null : names.some((name) => (env[name] ?? '') !== '')
}

function findingOf(name: string, probe: AgentProbe, lacks: readonly string[]): DoctorFinding {
  const { found, version, path, fix } = probe
  // The remedy stands apart, where it can be copied.
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
