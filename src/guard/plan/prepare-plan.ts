import { join } from 'node:path'
import { trustsHooks } from '../../agents/index.ts'
import { loadProject, type Project } from '../../config/load.ts'
import { resolveAgent } from '../../config/resolve-agent.ts'
import { GantryError } from '../../core/error.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { createRedaction } from '../../core/redaction.ts'
import type { DeclaredCommand, ProjectFacts } from '../../guard-engine/contract.ts'
import { requiredCommands as required } from '../../guard-engine/evidence/required-commands.ts'
import { historyFold } from '../../guard-engine/history/index.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { planCommandSource } from '../../guard-engine/project/command-sources.ts'
import { parsePlan } from '../../guard-engine/project/parse-plan.ts'
import { readProjectFacts } from '../../guard-engine/project/read-project-facts.ts'
import type { Settings } from '../../guard-engine/settings/settings.ts'
import { settingsInForce } from '../../guard-engine/settings/settings-in-force.ts'
import { agentEnvironment } from '../../guard-install/agent-environment.ts'
import { guardForAgent } from '../../guard-install/guard-for-agent.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'
import { checkInstallable } from '../../guard-install/temporary-guard.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { preflightAgents } from '../../model-link/choose-model-link.ts'
import { builtInPrices } from '../../models/prices.ts'
import { requirePlanFile } from './plan-file.ts'
import type { PlanRequest } from './plan-request.ts'
import { planTasks } from './plan-tasks.ts'

/** A plan run that is ready to start: everything is resolved and checked, nothing is spent or changed yet. */
export type PreparedPlan = Awaited<ReturnType<typeof preparePlan>>

export interface PrepareContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly program: HookProgram
  readonly signal: AbortSignal
}

export async function preparePlan(request: PlanRequest, context: PrepareContext) {
  const { root, plan } = request
  const { env, program, signal } = context
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
  const modelLink = preflightAgents([agent], { replay: 'off', faults: [] }).get(agent.name) ?? null
  const agentEnv = agentEnvironment({
    agent,
    host: env,
    hasModelLink: modelLink !== null,
    home: scratch.path,
    tmp: scratch.path,
  })
  const read = await settingsInForce({ root, env: agentEnv, userDir: guardHome(env) })
  if (read.kind === 'broken')
    throw new GantryError('INVALID_FILE', `the guard's settings cannot be read\n${read.problem}`)
  const { settings } = read
  const place = { root, settings, plan, planText: text }
  const { commands: declared } = await projectNow(place)
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
    /** The agent's link to its model; null when it calls its provider directly. */
    modelLink,
    prices: { ...builtInPrices, ...project.config.models },
    redaction: createRedaction(project.config.redact, env, agent.env),
    host: env,
    settings,
    /** Settings files that count as they were sealed. */
    sealed: read.sealed,
    tasks,
    /** All declared commands, and those that must be green. */
    declared,
    commands: await requiredNow({ ...place, declared }),
    guard,
    program,
  }
}

function refuseModel({ agent, model }: PlanRequest, { config }: Project): void {
  const models = config.agents[agent]?.models ?? []
  if (models.length === 0 || models.includes(model)) return
  throw new GantryError('USAGE', `agent '${agent}' is not configured for the model '${model}'`, {
    hint: `Its models in gantry.yaml are: ${models.join(', ')}.`,
  })
}

interface CommandPlace {
  readonly root: string
  readonly settings: Settings
  /** Path of the plan relative to the root, and its text. */
  readonly plan: string
  readonly planText: string
  /** Commands declared when the run began. They stay required whatever the agent does to the files. */
  readonly declared: readonly DeclaredCommand[]
}

/** Every command that must be green, determined in the same way as in the guard's stop gate. */
export async function requiredNow(place: CommandPlace): Promise<readonly DeclaredCommand[]> {
  const { settings, declared } = place
  const { initial } = historyFold
  const history = { ...initial, session: { ...initial.session, declared } }
  return required({ history, settings, project: await projectNow(place) })
}

async function projectNow(place: Omit<CommandPlace, 'declared'>): Promise<ProjectFacts> {
  const project = await readProjectFacts(place.root, place.settings, { entries: false })
  if (place.plan === planCommandSource) return project
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
