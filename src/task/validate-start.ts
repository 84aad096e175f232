import { loadProject, type Project } from '../config/load.ts'
import { type ResolvedAgent, resolveAgent } from '../config/resolve-agent.ts'
import { formatPosition, GantryError } from '../core/error.ts'
import { definedVariables } from '../core/expand.ts'
import { defined } from '../core/json-fields.ts'
import { findGitTop } from '../io/find-git-top.ts'
import { oldGitError } from '../io/git-repository.ts'
import { hermeticEnv } from '../io/hermetic-env.ts'
import { isDirectory } from '../io/path-kind.ts'
import { refusePipes } from '../io/refuse-pipes.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import { chooseModelLink, preflightAgents } from '../model-link/choose-model-link.ts'
import type { ModelLink } from '../models/boundary/model-link.ts'
import { resolveModel } from '../models/index.ts'
import type { SandboxEngine, SandboxName } from '../sandboxes/contract.ts'
import { chooseEngine } from '../sandboxes/index.ts'
import { type ReadAgentFile, readAgentFile } from '../verifier/agent-file.ts'
import type { ParsedTask } from './contract.ts'
import { isProgram } from './editor/editor-sandbox.ts'
import { parseTask } from './parse-task.ts'
import type { TaskSubmission } from './worker/submit-task.ts'

export interface StartRequest {
  /** The real path if it can be resolved, else as the user gave it. */
  readonly repository: string
  readonly description: string
  readonly agent: string
  /** `provider:model` or `default`. */
  readonly model: string
  readonly sandbox: 'auto' | SandboxName
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Path of a gantry.yaml instead of the one found upward. */
  readonly configFile?: string
  /** Replaces agent.yaml of the repository: the copy a task began with. */
  readonly agentFile?: string
}

export interface StartProblem {
  readonly what: 'task' | 'repository' | 'agent.yaml' | 'gantry.yaml' | 'model' | 'agent' | 'sandbox'
  readonly message: string
  readonly hint: string | null
}

/** Everything resolved and checked before a task starts. Costs nothing and changes nothing. */
export interface ReadyStart {
  readonly kind: 'ready'
  readonly task: ParsedTask
  readonly repository: string
  readonly agentFile: ReadAgentFile
  readonly project: Project
  readonly agent: ResolvedAgent
  readonly modelLink: ModelLink | null
  /** The model's name in the price list. */
  readonly model: string
  readonly engine: SandboxEngine
  readonly warnings: readonly string[]
}

export type StartCheck = ReadyStart | { readonly kind: 'refused'; readonly problems: readonly StartProblem[] }

const probeMs = 60_000

/** Collects all problems, so the user can fix them at once. Runs at every start of a task. */
export async function validateStart(request: StartRequest): Promise<StartCheck> {
  const { repository, description } = request
  const problems: StartProblem[] = []
  const collect = async <T>(what: StartProblem['what'], look: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await look()
    } catch (error) {
      if (!(error instanceof GantryError)) throw error
      problems.push(problemOf(what, error))
      return null
    }
  }
  const task = await collect('task', () => parseTask(description))
  const isThere = isDirectory(repository)
  await collect('repository', async () => {
    const old = await oldGitError(definedVariables(request.env))
    if (old !== null) throw old
    if (!isThere)
      throw new GantryError('NOT_FOUND', `${repository} is not a directory`, {
        hint: 'Name an existing directory.',
      })
    refusePipes(repository)
  })
  const agentFile = isThere
    ? await collect('agent.yaml', () => readAgentFile(repository, request.agentFile))
    : null
  const project = isThere
    ? await collect('gantry.yaml', () => loadProject(repository, request.configFile))
    : null
  const model = await collect('model', () => openable(request, project))
  const agent = project === null ? null : await collect('agent', () => resolve(request, project, problems))
  const engine = await collect('sandbox', () => probe(request))
  if (
    task === null ||
    agentFile === null ||
    project === null ||
    model === null ||
    agent === null ||
    engine === null ||
    problems.length > 0
  )
    return { kind: 'refused', problems }
  const inside = isProgram(agent) && engine.name !== 'host'
  const modelLink = chooseModelLink(agent, { replay: 'off', faults: [], inside })
  return {
    ...{ kind: 'ready', task, repository, agentFile, project, agent, modelLink, model, engine },
    warnings: [
      ...task.warnings,
      ...(findGitTop(repository) !== null
        ? []
        : [`${repository} is not a git repository: changes cannot be compared with a commit.`]),
    ],
  }
}

/** All problems as one error. */
export function startError(problems: readonly StartProblem[]): GantryError {
  const lines = problems.map(
    ({ what, message, hint }) => `- ${what}: ${message}${hint === null ? '' : `\n${indented(hint)}`}`,
  )
  return new GantryError('USAGE', `the task cannot start:\n${lines.join('\n')}`)
}

function indented(hint: string): string {
  return hint.trimEnd().replaceAll(/^(?=.)/gm, '  ')
}

function problemOf(what: StartProblem['what'], { message, hint, at }: GantryError): StartProblem {
  const where = at === undefined || message.includes(at.file) ? '' : `${formatPosition(at)}: `
  return { what, message: `${where}${message}`, hint: hint ?? null }
}

/** Checks only whether there is access, without sending a request. */
async function openable({ model, env }: StartRequest, project: Project | null): Promise<string> {
  const base = project?.root ?? '/'
  return (await resolveModel(model, { env, base })).name
}

async function resolve(
  request: StartRequest,
  project: Project,
  known: readonly StartProblem[],
): Promise<ResolvedAgent> {
  const { agent: name, repository, env, signal } = request
  using scratch = temporaryDirectory('gantry-task-')
  const agent = await resolveAgent(name, {
    project,
    cwd: repository,
    env,
    probeEnv: hermeticEnv({ host: env, home: scratch.path, tmp: scratch.path }),
    signal,
    // The login of the user's agent is in the user's home.
    homeUnlessSaid: 'host',
  })
  const { driver, probe, modelScript } = agent
  // The model of a task is the builtin agent's too.
  if (driver.name !== 'builtin') preflightAgents([agent], { replay: 'off', faults: [] })
  if (
    driver.name === 'builtin' &&
    probe.authenticated === false &&
    modelScript === null &&
    request.model === 'default' &&
    // A missing model is reported once.
    !known.some(({ what, message }) => what === 'model' && probe.problem?.startsWith(message) === true)
  )
    throw new GantryError('USAGE', `agent '${name}' cannot proceed without model access`, {
      hint: probe.problem ?? 'Set the key of a provider.',
    })
  return agent
}

/** The engine to use, after a successful probe. */
async function probe({ sandbox, env, signal }: StartRequest): Promise<SandboxEngine> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(probeMs)])
  const context = { env: definedVariables(env), signal: within }
  const chosen = await chooseEngine(sandbox, context)
  // The message already names the fix of each engine.
  if ('failure' in chosen) throw new GantryError('SPAWN_FAILED', chosen.failure.message)
  // An engine chosen automatically was already probed.
  if (sandbox === 'auto') return chosen
  const { usable, detail, fix } = await chosen.probe(context)
  if (usable) return chosen
  const silent = within.aborted && !signal.aborted ? `it did not answer within ${probeMs / 1000} s. ` : ''
  throw new GantryError('SPAWN_FAILED', `${chosen.name}: ${silent}${detail}`, {
    hint: fix === undefined ? 'Choose another engine with --sandbox.' : `Try: ${fix}`,
  })
}

/** Throws one GantryError with every problem that would keep a task from starting, before it is queued. Returns warnings. */
export async function checkSubmission(
  { repository, description, options = {} }: TaskSubmission,
  { env, signal }: Pick<StartRequest, 'env' | 'signal'>,
): Promise<readonly string[]> {
  const { agent = 'builtin', model = 'default', sandbox = 'auto', config_file } = options
  const check = await validateStart(
    defined({ repository, description, agent, model, sandbox, env, signal, configFile: config_file }),
  )
  if (check.kind === 'ready') return check.warnings
  // Workers have an agent, a model and a sandbox of their own.
  const problems = check.problems.filter(({ what }) => options.queue === undefined || !own.includes(what))
  if (problems.length > 0) throw startError(problems)
  return []
}

const own: readonly string[] = ['model', 'agent', 'sandbox']
