import { loadProject, type Project } from '../../config/load.ts'
import { configSchema } from '../../config/schema.ts'
import { counted } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import { definedVariables } from '../../core/expand.ts'
import { createRedaction } from '../../core/redaction.ts'
import { version } from '../../core/version.ts'
import { couldWrite } from '../../io/check-writable.ts'
import { findProgram } from '../../io/find-program.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { parseYaml } from '../../io/yaml.ts'
import { modelAccess } from '../../models/model-access.ts'
import { selectModel } from '../../models/select-model.ts'
import { probeEngines } from '../../sandboxes/index.ts'
import { openStore } from '../../store/open-store.ts'
import { findVerification } from '../../verifier/find-verification.ts'
import type { CliContext } from '../context.ts'
import { type DoctorFinding, lookAtAgents } from './examine-agents.ts'

/** Everything doctor looks at. Spends nothing and changes nothing. */
export async function examine(context: CliContext, config?: string): Promise<readonly DoctorFinding[]> {
  const { signal } = context
  const { project, finding } = lookAtProject(context, config)
  const env = definedVariables(context.env)
  // Programs write into their HOME even when they are only asked for their version.
  using scratch = temporaryDirectory('gantry-doctor-')
  const aside = { ...env, ...hermeticEnv({ host: {}, home: scratch.path, tmp: scratch.path }) }
  const [agents, verification, engines] = await Promise.all([
    lookAtAgents({ project, env: aside, signal }),
    lookAtVerification(context),
    probeEngines({ env, signal }),
  ])
  const sandboxes = engines.map(
    ({ engine, usable, detail, fix }): DoctorFinding => ({
      area: 'sandboxes',
      name: engine,
      status: usable ? 'ok' : 'missing',
      detail,
      ...(fix !== undefined && { fix }),
    }),
  )
  const found = [
    ...lookAtGantry(context, project),
    ...finding,
    verification,
    ...agents,
    ...lookAtModels(context.env),
    ...sandboxes,
  ]
  // Addresses may have a password in them, and programs print what they like.
  const { text } = createRedaction(project.config.redact, context.env)
  return found.map((one) => ({ ...one, detail: text(one.detail) }))
}

/** A configuration that does not load is what doctor was asked about. Only a file named by flag must be there. */
function lookAtProject(
  { cwd }: CliContext,
  config: string | undefined,
): { readonly project: Project; readonly finding: readonly DoctorFinding[] } {
  const about = { area: 'gantry', name: 'gantry.yaml' } as const
  try {
    const project = loadProject(cwd, config)
    const { source } = project
    return {
      project,
      finding: source === null ? [] : [{ ...about, status: 'ok', detail: source.path }],
    }
  } catch (error) {
    if (!(error instanceof GantryError) || error.code === 'NOT_FOUND') throw error
    const project = { root: cwd, config: parseYaml('', 'gantry.yaml', configSchema).value, source: null }
    return { project, finding: [{ ...about, status: 'missing', detail: error.message }] }
  }
}

const wantedNode = 24

/** Gantry itself and what all its commands stand on. */
function lookAtGantry(context: CliContext, project: Project): readonly DoctorFinding[] {
  return [
    { area: 'gantry', name: 'gantry', status: 'ok', detail: version },
    lookAtNode(),
    lookAtGit(context.env.PATH ?? ''),
    lookAtStore(context, project),
  ]
}

function lookAtNode(): DoctorFinding {
  const isNew = Number(process.versions.node.split('.')[0]) >= wantedNode
  return {
    area: 'gantry',
    name: 'node',
    status: isNew ? 'ok' : 'missing',
    detail: isNew ? process.versions.node : `${process.versions.node} is older than ${wantedNode}`,
  }
}

function lookAtGit(path: string): DoctorFinding {
  const program = findProgram('git', path)
  return program === null
    ? {
        area: 'gantry',
        name: 'git',
        status: 'lacking',
        detail: 'not on the PATH: runs will not say which commit they are of',
        fix: 'sudo apt-get install git',
      }
    : { area: 'gantry', name: 'git', status: 'ok', detail: program }
}

function lookAtStore({ cwd, env }: CliContext, project: Project): DoctorFinding {
  const own = env.AGENT_ARTIFACT_DIR ? undefined : project.config.results_path
  const { root } = openStore(own === undefined ? { env, cwd } : { env, cwd: project.root, root: own })
  return couldWrite(root)
    ? { area: 'gantry', name: 'store', status: 'ok', detail: root }
    : {
        area: 'gantry',
        name: 'store',
        status: 'missing',
        detail: `${root} cannot be written`,
        fix: 'export AGENT_ARTIFACT_DIR=DIR-YOU-CAN-WRITE',
      }
}

/** Which models Gantry itself could ask now: for judges, Scouts and the builtin agent. */
function lookAtModels(env: Readonly<Record<string, string | undefined>>): readonly DoctorFinding[] {
  const providers = modelAccess(env)
  const usable = providers.some((provider) => provider.usable)
  return [
    ...providers.map(
      ({ provider, usable: isUsable, detail }): DoctorFinding => ({
        area: 'models',
        name: provider,
        status: isUsable ? 'ok' : 'missing',
        detail,
      }),
    ),
    {
      area: 'models',
      name: 'default',
      status: usable ? 'ok' : 'missing',
      detail: defaultModel(env),
    },
  ]
}

function defaultModel(env: Readonly<Record<string, string | undefined>>): string {
  try {
    return selectModel(env) ?? 'cannot proceed without model access; scripted models and cassettes need none'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The agent.yaml that `gantry verify` and `gantry task` would use here. */
async function lookAtVerification({ cwd }: CliContext): Promise<DoctorFinding> {
  const about = { area: 'gantry', name: 'agent.yaml' } as const
  try {
    const { agentFile } = findVerification(cwd)
    const { steps, image } = agentFile.file.verification
    return {
      ...about,
      status: 'ok',
      detail: `${agentFile.path}: ${counted(steps.length, 'step')} in ${image}`,
    }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    if (error.code !== 'NOT_FOUND') return { ...about, status: 'missing', detail: error.message }
    const detail = 'none here: gantry verify and gantry task need one'
    return { ...about, status: 'missing', detail, fix: 'gantry init' }
  }
}
