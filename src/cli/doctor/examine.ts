import { loadProject, type Project } from '../../config/load.ts'
import { configSchema } from '../../config/schema.ts'
import { GantryError } from '../../core/error.ts'
import { definedVariables } from '../../core/expand.ts'
import { createRedaction } from '../../core/redaction.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { parseYaml } from '../../io/yaml.ts'
import { probeEngines } from '../../sandboxes/index.ts'
import type { CliContext } from '../context.ts'
import type { Finding } from './finding.ts'
import { lookAtAgents } from './look-at-agents.ts'
import { lookAtGantry } from './look-at-gantry.ts'
import { lookAtModels } from './look-at-models.ts'
import { lookAtVerification } from './look-at-verification.ts'

/** Everything doctor looks at. Spends nothing and changes nothing. */
export async function examine(context: CliContext, config?: string): Promise<readonly Finding[]> {
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
    ({ engine, usable, detail, fix }): Finding => ({
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
): { readonly project: Project; readonly finding: readonly Finding[] } {
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
