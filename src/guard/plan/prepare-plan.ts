import { join } from 'node:path'
import { trustsHooks } from '../../agents/index.ts'
import { loadProject, type Project } from '../../config/load.ts'
import { type ResolvedAgent, resolveAgent } from '../../config/resolve-agent.ts'
import { GantryError } from '../../core/error.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { createRedaction, type Redaction } from '../../core/redaction.ts'
import type { DeclaredCommand, ProjectFacts } from '../../guard-engine/contract.ts'
import { requiredCommands as required } from '../../guard-engine/evidence/declared-commands.ts'
import { historyFold } from '../../guard-engine/history/index.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { planSource } from '../../guard-engine/project/declaring-files.ts'
import { lookAtProject } from '../../guard-engine/project/look-at-project.ts'
import { parsePlan } from '../../guard-engine/project/parse-plan.ts'
import { readSettings } from '../../guard-engine/settings/read-settings.ts'
import type { Settings } from '../../guard-engine/settings/settings.ts'
import { agentEnvironment } from '../../guard-install/agent-environment.ts'
import { type AgentGuard, guardForAgent } from '../../guard-install/guard-for-agent.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'
import { checkInstallable } from '../../guard-install/temporary-guard.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { chooseModelLink } from '../../model-link/choose-model-link.ts'
import type { ModelLink } from '../../models/boundary/model-link.ts'
import { builtInPrices } from '../../models/prices.ts'
import type { PriceTable } from '../../models/pricing.ts'
import { requirePlanFile } from './plan-file.ts'
import type { PlanRequest } from './plan-request.ts'
import { type KeyedTask, planTasks } from './plan-tasks.ts'

/** A plan run that is ready to start: everything resolved and checked, nothing spent and nothing changed. */
export interface PreparedPlan {
  readonly request: PlanRequest
  readonly project: Project
  readonly agent: ResolvedAgent
  /** The agent's link to its model; null when it calls its provider directly. */
  readonly modelLink: ModelLink | null
  readonly prices: PriceTable
  readonly redaction: Redaction
  /** Of the caller. */
  readonly host: Readonly<Record<string, string | undefined>>
  readonly settings: Settings
  readonly tasks: readonly KeyedTask[]
  /** All that is declared in the project, and those of them that must be green. */
  readonly declared: readonly DeclaredCommand[]
  readonly commands: readonly DeclaredCommand[]
  readonly guard: AgentGuard
  readonly program: HookProgram
}

export interface PreparePowers {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly program: HookProgram
  readonly signal: AbortSignal
}

export async function preparePlan(request: PlanRequest, powers: PreparePowers): Promise<PreparedPlan> {
  const { root, plan } = request
  const { env, program, signal } = powers
  const text = requirePlanFile({ root, path: plan })
  const tasks = planTasks(text)
  if (tasks.length === 0) {
    throw new GantryError('USAGE', `${join(root, plan)} has no tasks`, {
      hint: 'A task is a checkbox at the beginning of a line: - [ ] title.',
    })
  }
  const project = loadProject(root, request.configFile)
  using scratch = temporaryDirectory('gantry-plan-')
  const agent = await resolveAgent(request.agent, {
    project,
    cwd: root,
    env,
    probeEnv: hermeticEnv({ host: env, home: scratch.path, tmp: scratch.path }),
    signal,
    homeUnlessSaid: 'host',
  })
  refuseModel(request, project)
  const modelLink = chooseModelLink(agent, { replay: 'off', faults: [] })
  requireKey(agent, modelLink)
  const agentEnv = agentEnvironment({
    agent,
    host: env,
    hasModelLink: modelLink !== null,
    home: scratch.path,
    tmp: scratch.path,
  })
  const read = await readSettings({ root, env: agentEnv, userDir: guardHome(env) })
  if (read.kind === 'broken')
    throw new GantryError('INVALID_FILE', `the guard's settings cannot be read\n${read.problem}`)
  const { settings } = read
  const place = { root, settings, plan, planText: text }
  const declared = await declaredNow(place)
  const hookPlace = { root, home: agentEnv.HOME ?? '', env: agentEnv }
  const guard = guardForAgent(
    agent.driver.name,
    hookPlace,
    program,
    trustsHooks(project.config.agents[request.agent]),
  )
  if (guard.kind === 'temporary') await checkInstallable({ ...guard, place: hookPlace, program })
  return {
    request,
    project,
    agent,
    modelLink,
    prices: { ...builtInPrices, ...project.config.models },
    redaction: createRedaction(project.config.redact, env, agent.env),
    host: env,
    settings,
    tasks,
    declared,
    commands: await requiredNow({ ...place, declared }),
    guard,
    program,
  }
}

function refuseModel({ agent, model }: PlanRequest, { config }: Project): void {
  const models = config.agents[agent]?.models ?? []
  if (models.length === 0 || models.includes(model)) return
  throw new GantryError('USAGE', `agent '${agent}' is not run with the model '${model}'`, {
    hint: `Its models in gantry.yaml are: ${models.join(', ')}.`,
  })
}

/** Whether a person is logged in to a command-line agent only the agent knows; our own has nothing but keys. */
function requireKey({ name, driver, probe }: ResolvedAgent, modelLink: ModelLink | null): void {
  if (driver.name !== 'builtin' || probe.authenticated !== false || modelLink?.source.kind === 'script')
    return
  throw new GantryError('USAGE', `agent '${name}' cannot proceed without model access`, {
    hint: probe.problem ?? 'Set the key of a provider.',
  })
}

interface CommandPlace {
  readonly root: string
  readonly settings: Settings
  /** Path of the plan below the root, and what it says. */
  readonly plan: string
  readonly planText: string
  /** Declared when the run began: whatever the agent does to the files, they stay. */
  readonly declared: readonly DeclaredCommand[]
}

/** Every command that must be green, by the same reading as the guard's gate. */
export async function requiredNow(place: CommandPlace): Promise<readonly DeclaredCommand[]> {
  const { settings, declared } = place
  const { initial } = historyFold
  const history = { ...initial, session: { ...initial.session, declared } }
  return required({ history, settings, project: await projectNow(place) })
}

/** What is declared in the project now. */
async function declaredNow(place: Omit<CommandPlace, 'declared'>): Promise<readonly DeclaredCommand[]> {
  return (await projectNow(place)).commands
}

async function projectNow(place: Omit<CommandPlace, 'declared'>): Promise<ProjectFacts> {
  const project = await lookAtProject(place.root, place.settings, { entries: false })
  if (place.plan === planSource) return project
  const own = parsePlan(place.planText).verification.map(
    (command): DeclaredCommand => ({
      command,
      kind: kindOfCommand(command),
      source: place.plan,
      explicit: true,
    }),
  )
  return { ...project, commands: [...own, ...project.commands] }
}
