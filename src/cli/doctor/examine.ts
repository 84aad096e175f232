import { loadProject, type Project } from '../../config/load.ts'
import { configSchema } from '../../config/schema.ts'
import { counted } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import { definedVariables, type Variables } from '../../core/expand.ts'
import { defined } from '../../core/json-fields.ts'
import { createRedaction } from '../../core/redaction.ts'
import { version } from '../../core/version.ts'
import { findRoot, guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { probeKernel } from '../../guard-engine/protection/kernel-layer.ts'
import { sealedNotice, settingsInForce } from '../../guard-engine/settings/settings-in-force.ts'
import { couldWrite } from '../../io/check-writable.ts'
import { findProgram } from '../../io/find-program.ts'
import { oldGitError } from '../../io/git-repository.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { parseYaml } from '../../io/yaml.ts'
import { modelAccess, selectModel } from '../../models/select-model.ts'
import { probeEngines } from '../../sandboxes/index.ts'
import { openStore } from '../../store/open-store.ts'
import { findVerification } from '../../verifier/find-verification.ts'
import type { CliContext } from '../context.ts'
import { type DoctorFinding, examineAgents } from './examine-agents.ts'

/** All checks of doctor. They cost nothing and change nothing. */
export async function examine(context: CliContext, config?: string): Promise<readonly DoctorFinding[]> {
  const { signal } = context
  const { project, finding } = examineProject(context, config)
  const env = definedVariables(context.env)
  // Programs write into their HOME even when only asked for their version.
  using scratch = temporaryDirectory('gantry-doctor-')
  const aside = { ...env, ...hermeticEnv({ host: {}, home: scratch.path, tmp: scratch.path }) }
  const [agents, verification, engines] = await Promise.all([
    examineAgents({ project, env: aside, signal }),
    examineVerification(context),
    probeEngines({ env, signal }),
  ])
  const sandboxes = engines.map(
    ({ engine, usable, detail, fix }): DoctorFinding =>
      defined({ area: 'sandboxes', name: engine, status: usable ? 'ok' : 'missing', detail, fix }),
  )
  const found = [
    ...(await examineGantry(context, project)),
    ...(await examineGuard(context)),
    ...finding,
    verification,
    ...agents,
    ...examineModels(context.env),
    ...sandboxes,
  ]
  // Addresses may contain a password, and programs print arbitrary text.
  const { text } = createRedaction(project.config.redact, context.env)
  return found.map((one) => ({ ...one, detail: text(one.detail) }))
}

/** A configuration that does not load is a finding. Only a file given by flag must exist. */
function examineProject({ cwd }: CliContext, config: string | undefined) {
  try {
    const project = loadProject(cwd, config)
    const { source } = project
    return { project, finding: source === null ? [] : [basic('gantry.yaml', 'ok', source.path)] }
  } catch (error) {
    if (!(error instanceof GantryError) || error.code === 'NOT_FOUND') throw error
    const project = { root: cwd, config: parseYaml('', 'gantry.yaml', configSchema).value, source: null }
    return { project, finding: [basic('gantry.yaml', 'missing', error.message)] }
  }
}

/** The layer that protects files here, and settings with which the guard would deny every call. */
async function examineGuard({ cwd, env }: CliContext): Promise<readonly DoctorFinding[]> {
  const kernel = await probeKernel()
  const read = await settingsInForce({ root: findRoot(cwd), env, userDir: guardHome(env) })
  const layer =
    kernel.kind === 'works'
      ? basic(
          'guard kernel layer',
          'ok',
          `protected files can be read-only for commands of Claude Code (${kernel.way}), and for those of Codex by its own sandbox`,
        )
      : basic(
          'guard kernel layer',
          'lacking',
          `protected files cannot be read-only for commands: ${kernel.why}; changes are noticed afterwards`,
        )
  const notice = sealedNotice(read)
  const changed = notice === null ? [] : [basic('guard settings', 'lacking', notice)]
  if (read.kind === 'read') return [layer, ...changed]
  const why = `invalid, so every call would be denied: ${read.problem.replaceAll('\n', '; ')}`
  return [layer, ...changed, basic('guard settings', 'missing', why)]
}

function basic(name: string, status: DoctorFinding['status'], detail: string, fix?: string): DoctorFinding {
  return { area: 'gantry', name, status, detail, ...(fix !== undefined && { fix }) }
}

const wantedNode = 24

async function examineGantry(context: CliContext, project: Project): Promise<readonly DoctorFinding[]> {
  const { node } = process.versions
  const git = findProgram('git', context.env.PATH ?? '')
  const old = await oldGitError(definedVariables(context.env))
  return [
    basic('gantry', 'ok', version),
    Number(node.split('.')[0]) >= wantedNode
      ? basic('node', 'ok', node)
      : basic('node', 'missing', `${node} is older than ${wantedNode}`),
    git === null
      ? basic(
          'git',
          'lacking',
          'not on the PATH: runs will not record their commit',
          'sudo apt-get install git',
        )
      : old === null
        ? basic('git', 'ok', git)
        : basic('git', 'missing', old.message, old.hint),
    examineStore(context, project),
  ]
}

function examineStore({ cwd, env }: CliContext, project: Project): DoctorFinding {
  const own = env.AGENT_ARTIFACT_DIR ? undefined : project.config.results_path
  const { root } = openStore(own === undefined ? { env, cwd } : { env, cwd: project.root, root: own })
  return couldWrite(root)
    ? basic('store', 'ok', root)
    : basic('store', 'missing', `${root} is not writable`, 'export AGENT_ARTIFACT_DIR=DIR-YOU-CAN-WRITE')
}

/** Models that Gantry itself can use now: for judges, Scouts and the builtin agent. */
function examineModels(env: Variables): readonly DoctorFinding[] {
  const providers = modelAccess(env)
  const usable = providers.some((provider) => provider.usable)
  return [...providers, { provider: 'default', usable, detail: defaultModel(env) }].map(
    ({ provider, usable: isUsable, detail }): DoctorFinding => ({
      area: 'models',
      name: provider,
      status: isUsable ? 'ok' : 'missing',
      detail,
    }),
  )
}

function defaultModel(env: Variables): string {
  try {
    return selectModel(env) ?? 'cannot proceed without model access; scripted models and cassettes need none'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The agent.yaml that `gantry verify` and `gantry task` would use here. */
async function examineVerification({ cwd }: CliContext): Promise<DoctorFinding> {
  try {
    const { agentFile } = findVerification(cwd)
    const { steps, image } = agentFile.file.verification
    return basic('agent.yaml', 'ok', `${agentFile.path}: ${counted(steps.length, 'step')} in ${image}`)
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    if (error.code !== 'NOT_FOUND') return basic('agent.yaml', 'missing', error.message)
    const detail = 'none here: gantry verify and gantry task need one'
    return basic('agent.yaml', 'missing', detail, 'gantry init')
  }
}
